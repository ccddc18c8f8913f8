import RoostREST

/// The socket of a channel, with what encrypts before it. No call waits; a channel makes them under its lock.
struct Wire {
    /// How far sending came.
    enum Progress {
        case whole
        /// The peer must take something first.
        case blocked
        case ended
    }

    private static let pieceSize = 64 << 10
    /// The most that a client may send before hands are shaken.
    private static let mostHandshake = 128 << 10
    /// What is encrypted at a time: the most of a record.
    private static let recordSize = 16 << 10

    private let socket: Int32
    private let statistics: ServerStatistics
    /// `nil` where nothing is encrypted.
    private let cipher: (any ChannelCipher)?
    /// What the cipher made and the system has not taken yet.
    private var sealed: ArraySlice<UInt8> = []
    /// Bytes that came before hands were shaken.
    private var handshakeSize = 0

    init(_ socket: Int32, _ statistics: ServerStatistics, _ cipher: (any ChannelCipher)?) {
        self.socket = socket
        self.statistics = statistics
        self.cipher = cipher
    }

    /// Whether hands are shaken, which those who don't encrypt need not; `nil` when something must come first, `false` when that
    /// failed.
    mutating func shakeHands() -> Bool? {
        guard let cipher else { return true }
        while true {
            let progress = cipher.shakeHands()
            // An alert that says why it failed, too.
            guard flush() != .ended else { return false }
            switch progress {
            case .done: return true
            case .failed: return false
            case .needsInput:
                switch receiveAsItCame() {
                case .none: return nil
                case .some(nil): return false
                case .some(let bytes?):
                    handshakeSize += bytes.count
                    guard handshakeSize <= Self.mostHandshake else { return false }
                    cipher.receive(bytes)
                }
            }
        }
    }

    /// Some bytes, `.some(nil)` at the end, `nil` when none are there.
    mutating func receive() -> [UInt8]?? {
        guard let cipher else { return receiveAsItCame() }
        while true {
            let input = cipher.read()
            // It may have made an answer of its own. A client that lets those pile up takes nothing.
            guard flush() != .ended, sealed.count <= Self.recordSize else { return .some(nil) }
            switch input {
            case .bytes(let bytes): return .some(bytes)
            case .ended: return .some(nil)
            case .needsInput:
                switch receiveAsItCame() {
                case .none: return .none
                case .some(nil): return .some(nil)
                case .some(let bytes?): cipher.receive(bytes)
                }
            }
        }
    }

    private func receiveAsItCame() -> [UInt8]?? {
        var bytes: [UInt8]?? = .none
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
            switch unsafe SystemSockets.receive(socket, UnsafeMutableRawBufferPointer(buffer)) {
            case .bytes(let received): count = received
            case .wouldBlock: count = 0
            case .ended:
                count = 0
                bytes = .some(nil)
            }
        }
        if case .some = bytes { return bytes }
        statistics.countReceived(piece.count)
        // A copy of what came only: pieces are kept for longer than buffers.
        return piece.isEmpty ? .none : .some(Array(piece[...]))
    }

    /// Sends what the peer takes now, a record at a time where it is encrypted, and leaves the rest in `bytes`.
    mutating func send(_ bytes: inout ArraySlice<UInt8>) -> Progress {
        guard let cipher else { return sendAsItIs(&bytes) }
        while true {
            let progress = flush()
            guard progress == .whole, !bytes.isEmpty else { return progress }
            let piece = bytes.prefix(Self.recordSize)
            guard cipher.write(piece) else { return .ended }
            bytes = bytes.dropFirst(piece.count)
        }
    }

    /// Sends what the cipher has made, as far as the peer takes it now.
    mutating func flush() -> Progress {
        guard let cipher else { return .whole }
        while true {
            if sealed.isEmpty { sealed = cipher.takeOutput()[...] }
            guard !sealed.isEmpty else { return .whole }
            let progress = sendAsItIs(&sealed)
            guard progress == .whole else { return progress }
        }
    }

    /// Says that nothing more comes, where it is encrypted; the socket's own end is to follow.
    mutating func finish() -> Progress {
        cipher?.finish()
        return flush()
    }

    private func sendAsItIs(_ bytes: inout ArraySlice<UInt8>) -> Progress {
        while !bytes.isEmpty {
            switch unsafe bytes.withUnsafeBytes({ unsafe SystemSockets.send(socket, $0) }) {
            case .bytes(let count):
                bytes = bytes.dropFirst(count)
                statistics.countSent(count)
            case .wouldBlock: return .blocked
            case .ended: return .ended
            }
        }
        return .whole
    }
}

/// Encrypts between the bytes of a connection and those on the wire. It does no input and output of its own.
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
