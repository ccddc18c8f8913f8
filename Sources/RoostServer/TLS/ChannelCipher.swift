/// What stands between the bytes of a connection and those on the wire. It does no input and output of its own.
///
/// A channel calls it under its lock, so never two calls at a time.
protocol ChannelCipher: AnyObject, Sendable {
    /// Takes what came over the wire.
    func receive(_ bytes: [UInt8])
    /// Goes on with the handshake.
    func shakeHands() -> HandshakeState
    /// The next bytes of the client's, once hands are shaken.
    func read() -> CipherInput
    /// Encrypts bytes; `false` when the connection is broken.
    func write(_ bytes: ArraySlice<UInt8>) -> Bool
    /// Says that nothing more will be written.
    func finish()
    /// A part of what is to go over the wire, which is given once; empty when there is none left.
    func takeOutput() -> [UInt8]
}

/// How far a handshake is.
enum HandshakeState {
    case done
    case needsInput
    case failed
}

/// What came out of what came over the wire.
enum CipherInput {
    case bytes([UInt8])
    case needsInput
    /// The client has ended, or sent what it can't have encrypted.
    case ended
}
