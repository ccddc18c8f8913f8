import RoostCrypto
import Testing

/// The hardware path computes what the portable one does, on random input of every length that takes another way
/// through either of them.
@Suite struct PathAgreementTests {
    private static let lengths = Array(0...280) + [300, 511, 512, 513, 1000, 4080, 4096, 8192, 10_007]

    private static let hardware: [ExecutionPath] = [.hardware, .narrowHardware]

    @Test(arguments: hardware) func gcm(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 7)
        for length in Self.lengths {
            let key = random.bytes(32)
            let (portable, hardware) = (try AES256GCM(key, .portable), try AES256GCM(key, path))
            let nonce = random.bytes(length % 7 == 0 ? 1 + length % 50 : 12)
            let (plaintext, aad) = (random.bytes(length), random.bytes(length % 61))
            let sealed = portable.seal(plaintext, nonce: nonce, aad: aad)
            #expect(hardware.seal(plaintext, nonce: nonce, aad: aad) == sealed, "\(length) bytes")
            #expect(try hardware.open(sealed, nonce: nonce, aad: aad) == plaintext, "\(length) bytes")
            #expect(try portable.open(sealed, nonce: nonce, aad: aad) == plaintext, "\(length) bytes")
        }
    }

    @Test(arguments: hardware) func gcmOfLongAssociatedData(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 8)
        let key = random.bytes(32)
        let (portable, hardware) = (try AES256GCM(key, .portable), try AES256GCM(key, path))
        for length in Self.lengths {
            let (nonce, aad) = (random.bytes(12), random.bytes(length))
            #expect(portable.seal([], nonce: nonce, aad: aad) == hardware.seal([], nonce: nonce, aad: aad))
        }
    }

    @Test(arguments: hardware) func counterMode(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 9)
        for length in Self.lengths {
            let key = random.bytes(32)
            var counter = random.bytes(16)
            if length % 2 == 0 {
                counter.replaceSubrange(12..., with: [0xFF, 0xFF, 0xFF, UInt8(length & 0xFF)])
            }
            let input = random.bytes(length)
            let expected = try AES256(key, .portable).applyCTR(input, counter: counter)
            #expect(try AES256(key, path).applyCTR(input, counter: counter) == expected, "\(length) bytes")
        }
    }

    @Test(arguments: ExecutionPath.allCases) func chainsSideBySide(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 11)
        for chainCount in Array(0...18) + [24, 33] {
            let (key, length) = (random.bytes(32), 16 * (1 + chainCount % 5))
            let cipher = try AES256(key, path)
            let (input, vectors) = (random.bytes(chainCount * length), random.bytes(16 * chainCount))
            var output = [UInt8](repeating: 0, count: input.count)
            unsafe output.withUnsafeMutableBytes { output in
                unsafe input.withUnsafeBytes { input in
                    unsafe vectors.withUnsafeBytes { vectors in
                        unsafe cipher.encryptChains(input, into: output, chainByteCount: length) {
                            unsafe Block128(loading: vectors.baseAddress! + 16 * $0)
                        }
                    }
                }
            }
            var expected: [UInt8] = []
            for number in 0..<chainCount {
                let chain = Array(input[number * length..<(number + 1) * length])
                expected += cipher.encryptCBC(chain, Array(vectors[16 * number..<16 * number + 16]))
            }
            #expect(output == expected, "\(chainCount) chains")
        }
    }

    @Test(arguments: hardware) func chaining(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 10)
        for blockCount in Array(0...40) + [100, 256] {
            let (key, vector, input) = (random.bytes(32), random.bytes(16), random.bytes(16 * blockCount))
            let (portable, hardware) = (try AES256(key, .portable), try AES256(key, path))
            let encrypted = portable.encryptCBC(input, vector)
            #expect(hardware.encryptCBC(input, vector) == encrypted, "\(blockCount) blocks")
            #expect(hardware.decryptCBC(input, vector) == portable.decryptCBC(input, vector))
            #expect(hardware.decryptCBC(encrypted, vector) == input)
        }
    }

    @Test func hashes() {
        var random = SeededBytes(seed: 11)
        for length in Self.lengths {
            let message = random.bytes(length)
            #expect(digest(SHA1.self, message, .portable) == digest(SHA1.self, message, .hardware))
            #expect(digest(SHA256.self, message, .portable) == digest(SHA256.self, message, .hardware))
        }
    }

    private func digest<Hash: HashFunction>(_: Hash.Type, _ message: [UInt8], _ path: ExecutionPath) -> Digest
    {
        var hash = Hash(path: path)
        hash.update(message)
        return hash.finalize()
    }
}
