import Dispatch
import Fleece
import RoostCrypto

/// What is kept of a user's password: enough to know it again.
struct PasswordRecord: Sendable {
    let derivedKey: [UInt8]
    let salt: [UInt8]
    let rounds: Int
    let usesSHA256: Bool

    /// The most rounds that a stored record may ask for, so that none keeps the server busy for minutes.
    private static let mostRounds = 10_000_000
    private init(_ derivedKey: [UInt8], salt: [UInt8], rounds: Int) {
        self.derivedKey = derivedKey
        self.salt = salt
        self.rounds = rounds
        usesSHA256 = true
    }

    /// That of a new password, with a random salt.
    static func new(_ password: String, rounds: Int) async -> PasswordRecord {
        let salt = Array(RandomText.hexadecimal(bytes: 16).utf8)
        let rounds = max(1, rounds)
        let key = await Derivation(password: password, salt: salt, rounds: rounds).run()
        return PasswordRecord(key, salt: salt, rounds: rounds)
    }

    /// That of a document of `_users`; `nil` where it has none that can be checked.
    init?(_ user: FleeceDictionary) {
        guard user["password_scheme"].string == "pbkdf2", let rounds = user["iterations"].int,
            (1...Self.mostRounds).contains(rounds), let salt = user["salt"].string,
            let key = user["derived_key"].string.flatMap(RandomText.bytes), !key.isEmpty
        else { return nil }
        derivedKey = key
        self.salt = Array(salt.utf8)
        self.rounds = rounds
        usesSHA256 = user["pbkdf2_prf"].string == "sha256"
    }

    /// The members that a document of `_users` keeps, as CouchDB names them.
    var members: [(String, JSON)] {
        [
            ("password_scheme", "pbkdf2"), ("pbkdf2_prf", .string(usesSHA256 ? "sha256" : "sha")),
            ("salt", .string(String(decoding: salt, as: UTF8.self))), ("iterations", .number(rounds)),
            ("derived_key", .string(RandomText.text(derivedKey))),
        ]
    }

    /// Whether it is this password. Takes as long whatever is wrong.
    func matches(_ password: String) async -> Bool {
        var derivation = Derivation(password: password, salt: salt, rounds: rounds)
        derivation.usesSHA256 = usesSHA256
        derivation.byteCount = derivedKey.count
        let key = await derivation.run()
        return constantTimeEqual(key, derivedKey)
    }
}

/// The computation of a key from a password, which takes long on purpose.
private struct Derivation: Sendable {
    let password: String
    let salt: [UInt8]
    let rounds: Int
    var usesSHA256 = true
    var byteCount = 32

    /// One password at a time: guessing must not take all processors.
    private static let queue = DispatchQueue(label: "roost.passwords")

    func run() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: key()) }
        }
    }

    private func key() -> [UInt8] {
        let secret = SymmetricKey(Array(password.utf8))
        let key =
            usesSHA256
            ? PBKDF2.deriveKeyWithSHA256(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
            : PBKDF2.deriveKeyWithSHA1(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
        return unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}
