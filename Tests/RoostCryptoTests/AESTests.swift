import RoostCrypto
import Testing

@Suite struct AESTests {
    @Test(arguments: ExecutionPath.allCases)
    func blockVectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("aes256-modes", "Block") {
            let cipher = try AES256(vector.bytes("Key"), path)
            #expect(cipher.encryptBlock(vector.bytes("Plaintext")) == vector.bytes("Ciphertext"), "\(vector)")
            #expect(cipher.decryptBlock(vector.bytes("Ciphertext")) == vector.bytes("Plaintext"), "\(vector)")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func chainingVectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("aes256-modes", "CBC") {
            let cipher = try AES256(vector.bytes("Key"), path)
            let (plain, secret) = (vector.bytes("Plaintext"), vector.bytes("Ciphertext"))
            #expect(cipher.encryptCBC(plain, vector.bytes("IV")) == secret, "\(vector)")
            #expect(cipher.decryptCBC(secret, vector.bytes("IV")) == plain, "\(vector)")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func counterVectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("aes256-modes", "CTR") {
            let cipher = try AES256(vector.bytes("Key"), path)
            let (plain, secret) = (vector.bytes("Plaintext"), vector.bytes("Ciphertext"))
            #expect(cipher.applyCTR(plain, counter: vector.bytes("IV")) == secret, "\(vector)")
        }
    }

    @Test func refusesKeysOfOtherLengths() {
        for count in [0, 16, 24, 31, 33] {
            #expect { try AES256([UInt8](repeating: 1, count: count), .portable) } throws: {
                ($0 as? CryptoError)?.code == .keySize
            }
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func counterStreamIsTheSameInAnyPieces(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 1)
        let cipher = try AES256(random.bytes(32), path)
        let (counter, input) = (random.bytes(16), random.bytes(700))
        let whole = cipher.applyCTR(input, counter: counter)
        var stream = AES256.CTR(cipher, initialCounter: Block128(counter))
        var done = 0
        while done < input.count {
            let count = min(Int(random.next() % 40), input.count - done)
            #expect(stream.apply(Array(input[done..<done + count])) == Array(whole[done..<done + count]))
            done += count
        }
        for offset in [0, 1, 15, 16, 17, 128, 333] {
            let tail = cipher.applyCTR(Array(input[offset...]), counter: counter, offset: UInt64(offset))
            #expect(tail == Array(whole[offset...]), "offset \(offset)")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func counterCarriesIntoTheUpperBits(_ path: ExecutionPath) throws {
        let cipher = try AES256([UInt8](0..<32), path)
        for highBytes in [0, 4, 8, 12, 15] {
            // The block before the overflow, and twenty after it.
            let start =
                [UInt8](repeating: 7, count: highBytes) + [UInt8](repeating: 0xFF, count: 16 - highBytes)
            var expected = cipher.encryptBlock(start)
            for number in 0..<20 {
                var next =
                    [UInt8](repeating: 7, count: highBytes) + [UInt8](repeating: 0, count: 16 - highBytes)
                if highBytes > 0 { next[highBytes - 1] += 1 }
                next[15] = UInt8(number)
                expected += cipher.encryptBlock(next)
            }
            let stream = cipher.applyCTR([UInt8](repeating: 0, count: 16 * 21), counter: start)
            #expect(stream == expected, "\(16 - highBytes) bytes overflow")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func chainIsTheSameInAnyPieces(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 2)
        let cipher = try AES256(random.bytes(32), path)
        let (vector, input) = (random.bytes(16), random.bytes(16 * 50))
        let whole = cipher.encryptCBC(input, vector)
        var encryption = AES256.CBCEncryption(cipher, initializationVector: Block128(vector))
        var decryption = AES256.CBCDecryption(cipher, initializationVector: Block128(vector))
        var done = 0
        while done < input.count {
            let count = min(16 * Int(random.next() % 12), input.count - done)
            #expect(
                encryption.encrypt(Array(input[done..<done + count])) == Array(whole[done..<done + count]))
            #expect(
                decryption.decrypt(Array(whole[done..<done + count])) == Array(input[done..<done + count]))
            done += count
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func paddingFillsTheLastBlock(_ path: ExecutionPath) throws {
        let cipher = try AES256([UInt8](repeating: 9, count: 32), path)
        let vector = [UInt8](repeating: 3, count: 16)
        for count in 0...49 {
            let input = (0..<count).map { UInt8($0) }
            let padding = 16 - count % 16
            let padded = input + [UInt8](repeating: UInt8(padding), count: padding)
            let secret = cipher.encryptCBCPadded(input, vector)
            #expect(secret == cipher.encryptCBC(padded, vector))
            #expect(try cipher.decryptCBCPadded(secret, vector) == input)
        }
    }

    @Test func refusesMalformedPadding() throws {
        let cipher = try AES256([UInt8](repeating: 9, count: 32), .portable)
        let vector = [UInt8](repeating: 3, count: 16)
        func code(ofOpening bytes: [UInt8]) -> CryptoError.Code? {
            do {
                _ = try cipher.decryptCBCPadded(bytes, vector)
                return nil
            } catch {
                return (error as? CryptoError)?.code
            }
        }
        for last: [UInt8] in [[0], [17], [255], [3, 2, 3], [1, 2], [4, 3, 4, 4]] {
            let block = [UInt8](repeating: 7, count: 16 - last.count) + last
            #expect(code(ofOpening: cipher.encryptCBC(block, vector)) == .padding, "\(last)")
        }
        let allButOne = [15] + [UInt8](repeating: 16, count: 15)
        #expect(code(ofOpening: cipher.encryptCBC(allButOne, vector)) == .padding)
        #expect(code(ofOpening: []) == .length)
        #expect(code(ofOpening: [UInt8](repeating: 0, count: 24)) == .length)
    }
}
