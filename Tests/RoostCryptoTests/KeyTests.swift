import RoostCrypto
import Testing

@Suite struct KeyTests {
    @Test func comparisonLooksAtEveryByte() {
        let bytes = [UInt8](0..<40)
        #expect(constantTimeEqual(bytes, bytes))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x80
            #expect(!constantTimeEqual(bytes, changed), "byte \(index)")
        }
        #expect(!constantTimeEqual(bytes, Array(bytes.dropLast())))
        #expect(constantTimeEqual([], []))
    }

    @Test func wipingClearsEveryByte() {
        var bytes = [UInt8](repeating: 0xAA, count: 100)
        unsafe bytes.withUnsafeMutableBytes {
            unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: $0[1..<99]))
        }
        #expect(bytes == [0xAA] + [UInt8](repeating: 0, count: 98) + [0xAA])
        var value: (UInt64, UInt8) = (.max, .max)
        wipe(&value)
        #expect(value == (0, 0))
    }

    @Test func keysHoldTheirBytesAndDoNotPrintThem() {
        let key = SymmetricKey([1, 2, 250])
        #expect(key.byteCount == 3)
        #expect(unsafe key.withUnsafeBytes { unsafe Array($0) } == [1, 2, 250])
        #expect(key == SymmetricKey([1, 2, 250]))
        #expect(key != SymmetricKey([1, 2, 251]))
        #expect(key != SymmetricKey([1, 2]))
        #expect("\(key)" == "SymmetricKey (3 bytes)")
        #expect(SymmetricKey([]).byteCount == 0)
    }

    @Test func randomBytesDifferAndFillTheWholeBuffer() {
        #expect(SymmetricKey.random() != SymmetricKey.random())
        #expect(SymmetricKey.random().byteCount == 32)
        #expect(SystemRandom.bytes(count: 0).isEmpty)
        // Longer than the system hands out at once; each byte is zero four times in a row once in 2³² runs.
        let runs = (0..<4).map { _ in SystemRandom.bytes(count: 700) }
        for index in 0..<700 {
            #expect(runs.contains { $0[index] != 0 }, "byte \(index)")
        }
    }
}
