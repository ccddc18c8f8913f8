import RoostCrypto
import Testing

@Suite struct HashTests {
    @Test func md5Vectors() { check(MD5.self, "MD5", .portable) }

    @Test(arguments: ExecutionPath.allCases)
    func sha1Vectors(_ path: ExecutionPath) { check(SHA1.self, "SHA1", path) }

    @Test(arguments: ExecutionPath.allCases)
    func sha256Vectors(_ path: ExecutionPath) { check(SHA256.self, "SHA256", path) }

    private func check<Hash: HashFunction>(_: Hash.Type, _ section: String, _ path: ExecutionPath) {
        for vector in TestVector.load("hashes", section) {
            let message = Array(vector.text("Message").utf8)
            var hash = Hash(path: path)
            if let count = vector.number("Repeated") {
                hash.update(Array(repeatElement(message, count: count).joined()))
            } else {
                hash.update(message)
            }
            let digest = hash.finalize()
            #expect(digest.bytes == vector.bytes("Digest"), "\(vector)")
            #expect(digest.description == vector.text("Digest"))
            #expect(digest.byteCount == Hash.digestByteCount)
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func streamsInAnyPiecesGiveTheSameDigest(_ path: ExecutionPath) {
        checkPieces(SHA1.self, path)
        checkPieces(SHA256.self, path)
        checkPieces(MD5.self, path)
    }

    private func checkPieces<Hash: HashFunction>(_: Hash.Type, _ path: ExecutionPath) {
        var random = SeededBytes(seed: 6)
        for count in [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 121, 128, 1000] {
            let message = random.bytes(count)
            let whole = Hash.hash(message)
            var single = Hash(path: path)
            for byte in message { single.update([byte]) }
            #expect(single.finalize() == whole, "\(Hash.self), \(count) bytes one by one")
            var hash = Hash(path: path)
            var done = 0
            while done < count {
                let piece = min(Int(random.next() % 150), count - done)
                hash.update(Array(message[done..<done + piece]))
                done += piece
            }
            #expect(hash.finalize() == whole, "\(Hash.self), \(count) bytes")
        }
    }

    @Test func copiesGoOnIndependently() {
        var first = SHA256()
        first.update(Array("shared, ".utf8))
        var second = first
        first.update(Array("one".utf8))
        second.update(Array("two".utf8))
        #expect(first.finalize() == SHA256.hash(Array("shared, one".utf8)))
        #expect(second.finalize() == SHA256.hash(Array("shared, two".utf8)))
    }

    @Test func digestsAreEqualOnlyIfAllBytesAre() {
        let digest = SHA256.hash([1])
        #expect(digest != SHA256.hash([2]))
        #expect(Set([digest, SHA256.hash([1]), SHA256.hash([2])]).count == 2)
        #expect(digest != SHA1.hash([1]))
    }
}
