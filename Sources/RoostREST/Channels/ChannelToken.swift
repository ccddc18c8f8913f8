import RoostBytes
import RoostCrypto

/// A place among the changes that a user sees.
struct ChannelToken: Equatable, Sendable {
    /// Changes up to this sequence were told, of the channels that the user had at ``time``.
    var sequence: UInt64 = 0
    /// On the ``AccessClock``.
    var time: UInt64 = 0
    /// The time up to which gained and lost channels are being told of; 0 for none.
    var target: UInt64 = 0
    /// The sequence up to which they were.
    var place: UInt64 = 0
}

/// Writes places as texts that tell nobody anything: not how many changes lie between two, nor whether there were any. The same place
/// is the same text for a user.
struct ChannelTokens: Sendable {
    private let key: SymmetricKey

    /// - Parameter scope: What the tokens are good for: the database's history and the user.
    init(secret: [UInt8], scope: String) {
        key = SymmetricKey(Self.code(Array("channel tokens:\(scope)".utf8), SymmetricKey(secret)))
    }

    func text(_ token: ChannelToken) -> String {
        let plain = [token.sequence, token.time, token.target, token.place].flatMap(ChannelKey.sequence)
        let seed = Array(Self.code([0] + plain, key).prefix(16))
        return RandomText.text(seed + masked(plain, seed))
    }

    /// The place that a text stands for; the beginning for a text that is not this user's, or of another history.
    func token(_ text: String) -> ChannelToken {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "\"") }.compactMap { Self.value($0) }
        guard digits.count == 96 else { return ChannelToken() }
        let bytes = (0..<48).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
        let plain = masked(Array(bytes[16...]), Array(bytes[..<16]))
        guard constantTimeEqual(Array(Self.code([0] + plain, key).prefix(16)), Array(bytes[..<16])) else {
            return ChannelToken()
        }
        let numbers = (0..<4).map { place in
            plain[(8 * place)..<(8 * place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return ChannelToken(
            sequence: numbers[0], time: numbers[1], target: numbers[2], place: numbers[3])
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private func masked(_ bytes: [UInt8], _ seed: [UInt8]) -> [UInt8] {
        zip(bytes, Self.code([1] + seed, key)).map { $0 ^ $1 }
    }

    private static func code(_ bytes: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        HMAC<SHA256>.authenticate(bytes, key: key).bytes
    }
}
