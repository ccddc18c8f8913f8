import RoostBytes
import RoostCrypto
import Testing

@testable import Roost

/// No nonce is used twice under one key, whenever the file is opened.
@Suite struct NonceTests {
    private func nonces(_ cipher: ChunkCipher, _ count: Int) -> [[UInt8]] {
        (0..<count).map { number in
            let sealed = ByteBuffer()
            let text: [UInt8] = [1, 2, 3]
            text.withView { cipher.seal($0, kind: 1, offset: UInt64(number), history: 1, into: sealed) }
            return Array(sealed.view.array.prefix(12))
        }
    }

    @Test func eachOpeningDrawsNoncesOfItsOwn() {
        let keys = FileKeys(vault: nil)
        var seen: Set<[UInt8]> = []
        var prefixes: Set<[UInt8]> = []
        for _ in 0..<50 {
            let nonces = nonces(ChunkCipher(keys), 20)
            seen.formUnion(nonces)
            prefixes.formUnion(nonces.map { Array($0.prefix(8)) })
        }
        #expect(seen.count == 1000)
        #expect(prefixes.count == 50, "one for each opening")
    }
}
