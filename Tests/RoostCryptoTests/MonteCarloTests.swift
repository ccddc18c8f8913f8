import RoostCrypto
import Testing

/// NIST's Monte Carlo tests: a hundred thousand computations, each fed with the results of those before.
@Suite struct MonteCarloTests {
    @Test(arguments: ExecutionPath.allCases)
    func blockEncryption(_ path: ExecutionPath) throws {
        for vector in TestVector.load("monte-carlo", "BlockEncrypt") {
            #expect(try iterateBlock(vector, path) { $0.encrypt($1) } == vector.bytes("Output"))
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func blockDecryption(_ path: ExecutionPath) throws {
        for vector in TestVector.load("monte-carlo", "BlockDecrypt") {
            #expect(try iterateBlock(vector, path) { $0.decrypt($1) } == vector.bytes("Output"))
        }
    }

    /// AESAVS 6.4.1: the key changes by the last two results.
    private func iterateBlock(
        _ vector: TestVector, _ path: ExecutionPath, _ step: (AES256, Block128) -> Block128
    ) throws -> [UInt8] {
        var key = vector.bytes("Key")
        var current = Block128(vector.bytes("Input"))
        for _ in 0..<100 {
            let cipher = try AES256(key, path)
            var previous = current
            for _ in 0..<1000 {
                previous = current
                current = step(cipher, current)
            }
            key = zip(key, previous.bytes + current.bytes).map { $0 ^ $1 }
        }
        return current.bytes
    }

    /// AESAVS 6.4.2: each input is the output before the last, and the first vector and input of a round are the last
    /// two outputs of the round before.
    @Test(arguments: ExecutionPath.allCases, ["CBCEncrypt", "CBCDecrypt"])
    func chaining(_ path: ExecutionPath, _ direction: String) throws {
        let isEncrypting = direction == "CBCEncrypt"
        for vector in TestVector.load("monte-carlo", direction) {
            var key = vector.bytes("Key")
            var last = vector.bytes("IV")
            var input = vector.bytes("Input")
            for _ in 0..<100 {
                let cipher = try AES256(key, path)
                var chain = last
                for _ in 0..<1000 {
                    let output =
                        isEncrypting ? cipher.encryptCBC(input, chain) : cipher.decryptCBC(input, chain)
                    chain = isEncrypting ? output : input
                    (input, last) = (last, output)
                }
                key = zip(key, input + last).map { $0 ^ $1 }
            }
            #expect(last == vector.bytes("Output"))
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func sha1(_ path: ExecutionPath) {
        for vector in TestVector.load("monte-carlo", "SHA1") {
            #expect(iterateHash(SHA1.self, vector.bytes("Seed"), path) == vector.bytes("Output"))
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func sha256(_ path: ExecutionPath) {
        for vector in TestVector.load("monte-carlo", "SHA256") {
            #expect(iterateHash(SHA256.self, vector.bytes("Seed"), path) == vector.bytes("Output"))
        }
    }

    /// SHAVS 6.4: each message is the last three digests.
    private func iterateHash<Hash: HashFunction>(
        _: Hash.Type, _ seed: [UInt8], _ path: ExecutionPath
    ) -> [UInt8] {
        var seed = seed
        for _ in 0..<100 {
            var (a, b, c) = (seed, seed, seed)
            for _ in 0..<1000 {
                var hash = Hash(path: path)
                hash.update(a)
                hash.update(b)
                hash.update(c)
                (a, b, c) = (b, c, hash.finalize().bytes)
            }
            seed = c
        }
        return seed
    }
}
