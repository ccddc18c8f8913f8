import RoostCrypto
import Testing

@Suite struct DerivationTests {
    @Test(arguments: ExecutionPath.allCases)
    func hmacVectors(_ path: ExecutionPath) {
        check(HMAC<MD5>.self, "MD5", path)
        check(HMAC<SHA1>.self, "SHA1", path)
        check(HMAC<SHA256>.self, "SHA256", path)
    }

    private func check<Hash: HashFunction>(_: HMAC<Hash>.Type, _ section: String, _ path: ExecutionPath) {
        for vector in TestVector.load("hmac", section) {
            let key = SymmetricKey(vector.bytes("Key"))
            let message = vector.bytes("Message")
            var code = HMAC<Hash>(key: key, path: path)
            code.update(Array(message[..<7]))
            code.update(Array(message[7...]))
            #expect(code.finalize().bytes == vector.bytes("Code"), "\(vector)")
            #expect(HMAC<Hash>.authenticate(message, key: key).bytes == vector.bytes("Code"), "\(vector)")
        }
    }

    @Test func hkdfVectors() {
        for vector in TestVector.load("key-derivation", "HKDF") {
            let secret = SymmetricKey(vector.bytes("Secret"))
            let (salt, info, key) = (vector.bytes("Salt"), vector.bytes("Info"), vector.bytes("Key"))
            let extracted = HKDF.extract(from: secret, salt: salt)
            #expect(extracted == SymmetricKey(vector.bytes("Extracted")), "\(vector)")
            for count in [0, 1, 31, 32, 33, key.count] {
                let derived = HKDF.deriveKey(from: secret, salt: salt, info: info, byteCount: count)
                #expect(derived == SymmetricKey(Array(key[..<count])), "\(vector)")
            }
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func pbkdf2WithSHA1Vectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("key-derivation", "PBKDF2-SHA1") {
            let key = vector.bytes("Key")
            let derived = PBKDF2.deriveKeyWithSHA1(
                password: SymmetricKey(vector.bytes("Password")), salt: vector.bytes("Salt"),
                rounds: try #require(vector.number("Rounds")), byteCount: key.count, path: path)
            #expect(derived == SymmetricKey(key), "\(vector)")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func pbkdf2WithSHA256Vectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("key-derivation", "PBKDF2-SHA256") {
            let key = vector.bytes("Key")
            let derived = PBKDF2.deriveKeyWithSHA256(
                password: SymmetricKey(vector.bytes("Password")), salt: vector.bytes("Salt"),
                rounds: try #require(vector.number("Rounds")), byteCount: key.count, path: path)
            #expect(derived == SymmetricKey(key), "\(vector)")
        }
    }
}
