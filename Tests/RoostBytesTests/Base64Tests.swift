import RoostBytes
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func theStandardsVectors(plain: String, text: String) {
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text.utf8) == Array(plain.utf8))
    }

    @Test func everyDigitHasItsPlace() {
        // The digits 0, 1, … 63, six bits each.
        let bytes: [UInt8] = stride(from: 0, to: 64, by: 4).flatMap { (digit: Int) -> [UInt8] in
            let group = digit << 18 | (digit + 1) << 12 | (digit + 2) << 6 | (digit + 3)
            return [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        }
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        #expect(Base64.encode(bytes) == alphabet)
        #expect(Base64.decode(alphabet.utf8) == bytes)
    }

    @Test(arguments: ["A", "AA", "AAA", "AAAAA", "AA=A", "=AAA", "A===", "====", "AA-A", "AA A", "AAA\u{e9}"])
    func whatIsNoBase64IsRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
