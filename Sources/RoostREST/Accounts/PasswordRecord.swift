import Fleece
import RoostCrypto

/// What is stored of a password: enough to recognise it.
struct PasswordRecord: Sendable {
    let derivedKey: [UInt8]
    let salt: [UInt8]
    let rounds: Int
    let usesSHA256: Bool

    /// The members of an account that hold it; the server alone makes them of a password.
    static let names = [
        "password_scheme", "pbkdf2_prf", "salt", "iterations", "derived_key", "password_sha", "simple",
    ]
    /// The rounds that a stored record may ask for, where those of new passwords are fewer.
    static let mostRounds = 600_000
    private static let longestSalt = 256
    private static let shortestKey = 16

    /// The record of a new password, with a random salt.
    init(_ password: String, rounds: Int) {
        salt = Array(RandomText.hexadecimal(bytes: 16).utf8)
        self.rounds = max(1, rounds)
        usesSHA256 = true
        derivedKey = Self.derive(password, salt, rounds: self.rounds, byteCount: 32, usesSHA256: true)
    }

    /// The record of a document of `_users`; `nil` where it has none, or one that would cost more than the server gives.
    ///
    /// - Parameter mostRounds: The rounds that are permitted.
    init?(_ user: FleeceDictionary, mostRounds: Int) {
        guard user["password_scheme"].string == "pbkdf2", let rounds = user["iterations"].int,
            (1...max(1, mostRounds)).contains(rounds), let salt = user["salt"].string,
            salt.utf8.count <= Self.longestSalt
        else { return nil }
        switch user["pbkdf2_prf"].string {
        case "sha256": usesSHA256 = true
        case "sha", nil: usesSHA256 = false
        default: return nil
        }
        // More than one digest's length would cost the rounds once for each.
        let longestKey = usesSHA256 ? 32 : 20
        guard let text = user["derived_key"].string, text.utf8.count <= 2 * longestKey,
            let key = RandomText.bytes(text), key.count >= Self.shortestKey
        else { return nil }
        derivedKey = key
        self.salt = Array(salt.utf8)
        self.rounds = rounds
    }

    /// The members that a document of `_users` keeps, as CouchDB names them.
    var members: [(String, JSON)] {
        [
            ("password_scheme", "pbkdf2"), ("pbkdf2_prf", .string(usesSHA256 ? "sha256" : "sha")),
            ("salt", .string(String(decoding: salt, as: UTF8.self))), ("iterations", .number(rounds)),
            ("derived_key", .string(RandomText.text(derivedKey))),
        ]
    }

    /// Whether `record` is that of this password. With `rounds` or fewer in the record, or with no record at all, it takes the time of
    /// that number of rounds, so that the time says nothing about the account.
    static func matches(_ password: String, _ record: PasswordRecord?, rounds: Int) -> Bool {
        var isRight = false
        if let record {
            let key = derive(
                password, record.salt, rounds: record.rounds, byteCount: record.derivedKey.count,
                usesSHA256: record.usesSHA256)
            isRight = constantTimeEqual(key, record.derivedKey)
        }
        let rest = rounds - (record?.rounds ?? 0)
        if rest > 0 {
            _ = derive(
                password, record?.salt ?? Array(repeating: 0, count: 32), rounds: rest, byteCount: 32,
                usesSHA256: true)
        }
        return isRight
    }

    /// Computes for long, on purpose.
    private static func derive(
        _ password: String, _ salt: [UInt8], rounds: Int, byteCount: Int, usesSHA256: Bool
    ) -> [UInt8] {
        let secret = SymmetricKey(Array(password.utf8))
        let key =
            usesSHA256
            ? PBKDF2.deriveKeyWithSHA256(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
            : PBKDF2.deriveKeyWithSHA1(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
        return unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
