/// A building block of encryption, as the rows of primitives measure it.
enum Primitive: String, CaseIterable, Sendable {
    case gcm
    case ctr
    case cbcEncryption = "cbc"
    case cbcChains = "cbc.chains"
    case cbcDecryption = "cbc.decryption"
    case sha1
    case sha256
    case md5
    case hmac
    case pbkdf2

    /// The length of the messages: what a frame of a blob takes, and more than most documents have.
    static let messageSize = 4096

    /// The line's heading, with the unit.
    var title: String {
        switch self {
        case .gcm: "AES-256-GCM, whole messages, MB/s"
        case .ctr: "AES-256-CTR, MB/s"
        case .cbcEncryption: "AES-256-CBC encryption, MB/s"
        case .cbcChains: "AES-256-CBC encryption of eight chains, MB/s"
        case .cbcDecryption: "AES-256-CBC decryption, MB/s"
        case .sha1: "SHA-1, MB/s"
        case .sha256: "SHA-256, MB/s"
        case .md5: "MD5, MB/s"
        case .hmac: "HMAC-SHA-256, MB/s"
        case .pbkdf2: "PBKDF2-HMAC-SHA-256, rounds/s"
        }
    }
}

/// What a contender's primitives run on.
enum PrimitivePath: Sendable {
    /// Whatever the processor has.
    case hardware
    /// Without the processor's instructions for AES, carry-less multiplication and SHA.
    case portable
}

/// A library of primitives in the race.
protocol PrimitiveContender: AnyObject {
    /// Works for about `seconds` on messages of ``Primitive/messageSize`` bytes that are in the cache, on one thread.
    ///
    /// - Returns: 10⁶ bytes, or for PBKDF2 rounds, per second of processor time.
    func rate(_ primitive: Primitive, _ path: PrimitivePath, seconds: Double) throws -> Double
}
