import RoostCrypto
import Testing

@Suite struct GCMTests {
    @Test(arguments: ExecutionPath.allCases)
    func validVectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("aes256-gcm", "Valid") {
            let gcm = try AES256GCM(vector.bytes("Key"), path)
            let (nonce, aad) = (vector.bytes("Nonce"), vector.bytes("AAD"))
            let sealed = vector.bytes("Ciphertext") + vector.bytes("Tag")
            #expect(gcm.seal(vector.bytes("Plaintext"), nonce: nonce, aad: aad) == sealed, "\(vector)")
            #expect(try gcm.open(sealed, nonce: nonce, aad: aad) == vector.bytes("Plaintext"), "\(vector)")
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func invalidVectors(_ path: ExecutionPath) throws {
        for vector in TestVector.load("aes256-gcm", "Invalid") {
            let gcm = try AES256GCM(vector.bytes("Key"), path)
            let sealed = vector.bytes("Ciphertext") + vector.bytes("Tag")
            #expect(throws: CryptoError.self, "\(vector)") {
                try gcm.open(sealed, nonce: vector.bytes("Nonce"), aad: vector.bytes("AAD"))
            }
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func anyFlippedBitIsCaught(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 3)
        let gcm = try AES256GCM(random.bytes(32), path)
        for count in [0, 1, 16, 37, 160] {
            let (nonce, aad) = (random.bytes(12), random.bytes(19))
            let sealed = gcm.seal(random.bytes(count), nonce: nonce, aad: aad)
            for bit in 0..<8 * sealed.count {
                var changed = sealed
                changed[bit / 8] ^= 1 << (bit % 8)
                expectRefusal(gcm, changed, nonce, aad)
            }
            for bit in 0..<8 * aad.count {
                var changed = aad
                changed[bit / 8] ^= 1 << (bit % 8)
                expectRefusal(gcm, sealed, nonce, changed)
            }
            for bit in 0..<8 * nonce.count {
                var changed = nonce
                changed[bit / 8] ^= 1 << (bit % 8)
                expectRefusal(gcm, sealed, changed, aad)
            }
            expectRefusal(gcm, sealed, nonce, aad + [0])
            expectRefusal(gcm, sealed, nonce, Array(aad.dropLast()))
            expectRefusal(gcm, [0] + sealed, nonce, aad)
        }
    }

    private func expectRefusal(_ gcm: AES256GCM, _ sealed: [UInt8], _ nonce: [UInt8], _ aad: [UInt8]) {
        #expect { try gcm.open(sealed, nonce: nonce, aad: aad) } throws: {
            ($0 as? CryptoError)?.code == .authentication
        }
    }

    @Test func tooShortForATagIsRefused() throws {
        let gcm = try AES256GCM([UInt8](repeating: 1, count: 32), .hardware)
        for count in 0..<16 {
            #expect { try gcm.open([UInt8](repeating: 0, count: count), nonce: [1]) } throws: {
                ($0 as? CryptoError)?.code == .length
            }
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func worksInPlaceAndClearsWhatItRefuses(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 4)
        let gcm = try AES256GCM(random.bytes(32), path)
        for count in [0, 1, 15, 16, 17, 127, 128, 129, 300, 4080] {
            let (nonce, aad, plaintext) = (random.bytes(12), random.bytes(8), random.bytes(count))
            let sealed = gcm.seal(plaintext, nonce: nonce, aad: aad)
            var buffer = plaintext + [UInt8](repeating: 0, count: 16)
            unsafe processInPlace(&buffer, nonce, aad) { bytes, nonce, aad in
                let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
                unsafe gcm.seal(text, into: bytes, nonce: nonce, authenticating: aad)
            }
            #expect(buffer == sealed, "\(count) bytes")
            var error: CryptoError?
            func open() {
                unsafe processInPlace(&buffer, nonce, aad) { bytes, nonce, aad in
                    let text = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
                    do throws(CryptoError) {
                        try unsafe gcm.open(
                            UnsafeRawBufferPointer(bytes), into: text, nonce: nonce, authenticating: aad)
                        error = nil
                    } catch let refusal {
                        error = refusal
                    }
                }
            }
            open()
            #expect(error == nil)
            #expect(Array(buffer[..<count]) == plaintext, "\(count) bytes")
            buffer = sealed
            buffer[count] ^= 1
            open()
            #expect(error?.code == .authentication)
            #expect(buffer[..<count].allSatisfy { $0 == 0 })
        }
    }

    private func processInPlace(
        _ buffer: inout [UInt8], _ nonce: [UInt8], _ aad: [UInt8],
        _ body: (UnsafeMutableRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        unsafe nonce.withUnsafeBytes { nonce in
            unsafe aad.withUnsafeBytes { aad in
                unsafe buffer.withUnsafeMutableBytes { unsafe body($0, nonce, aad) }
            }
        }
    }

    @Test(arguments: ExecutionPath.allCases)
    func roundTripsOfEveryLength(_ path: ExecutionPath) throws {
        var random = SeededBytes(seed: 5)
        let gcm = try AES256GCM(random.bytes(32), path)
        for count in 0...300 {
            let (nonce, aad, plaintext) = (random.bytes(12), random.bytes(count % 40), random.bytes(count))
            let sealed = gcm.seal(plaintext, nonce: nonce, aad: aad)
            #expect(try gcm.open(sealed, nonce: nonce, aad: aad) == plaintext, "\(count) bytes")
        }
    }

    /// Key and nonce of Wycheproof's tcId 192, constructed so that the first counter block ends with fffffffe.
    @Test(arguments: ExecutionPath.allCases)
    func counterWrapsWithinItsLastFourBytes(_ path: ExecutionPath) throws {
        let key = bytesFromHex("00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f")
        let cipher = try AES256(key, .portable)
        let zeros = [UInt8](repeating: 0, count: 16 * 50)
        let sealed = try AES256GCM(key, path).seal(
            zeros, nonce: bytesFromHex("b37bbad104928ae89221d3520c2682e0"))
        for number in 0..<50 {
            // The text starts with the second counter block, the third one is the first after the overflow.
            let count = UInt32(truncatingIfNeeded: 0xFFFF_FFFF + number)
            let counter = [UInt8](0..<12) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            #expect(
                Array(sealed[16 * number..<16 * number + 16]) == cipher.encryptBlock(counter), "\(number)")
        }
    }
}
