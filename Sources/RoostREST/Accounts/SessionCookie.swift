import RoostBytes
import RoostCrypto
import RoostWire

/// The cookie of a session: who it is of, when it began, and a code that only the server can make.
struct SessionCookie {
    static let name = "AuthSession"
    static let cleared = "\(name)=; Version=1; Path=/; HttpOnly; Max-Age=0"

    let user: String
    /// In seconds since 1970.
    let start: Int

    /// The cookie's value.
    func value(_ key: SymmetricKey) -> String {
        let text = "\(user):\(String(start, radix: 16, uppercase: true))"
        let code = HMAC<SHA256>.authenticate(Array(text.utf8), key: key)
        let base64 = Base64.encode(Array("\(text):\(code)".utf8))
        return String(base64.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    init(user: String, start: Int) {
        self.user = user
        self.start = start
    }

    /// The user whose session a value says it is, which is not proven.
    static func claimedUser(_ value: String) -> String? {
        parts(value)?.dropLast(2).joined(separator: ":")
    }

    /// User, time and code; a user may have colons in the name.
    private static func parts(_ value: String) -> [String]? {
        var base64 = value.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while base64.count % 4 != 0 { base64.append(UInt8(ascii: "=")) }
        guard let bytes = Base64.decode(base64) else { return nil }
        // By bytes: what combines with a colon is part of a name, and the colon no part of it.
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .compactMap { String(validating: $0, as: UTF8.self) }
        return parts.count >= 3 ? parts : nil
    }

    /// The session that a value tells; `nil` when its code is wrong.
    init?(_ value: String, _ key: SymmetricKey) {
        guard let parts = Self.parts(value), let start = Int(parts[parts.count - 2], radix: 16) else {
            return nil
        }
        user = parts.dropLast(2).joined(separator: ":")
        self.start = start
        // The whole value, not only its code: base64 has several texts for the same bytes.
        guard constantTimeEqual(Array(self.value(key).utf8), Array(value.utf8)) else { return nil }
    }

    /// The session's value among the cookies of a request.
    static func find(_ field: String?) -> String? {
        for cookie in (field ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let cookie = String(decoding: cookie.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            if let value = cookie.removing(prefix: name + "="), !value.isEmpty { return value }
        }
        return nil
    }
}
