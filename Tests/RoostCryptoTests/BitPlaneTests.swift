import Testing

@testable import RoostCrypto

/// The bitsliced cipher computes the same with the plane for any processor as with the one for this.
@Suite struct BitPlaneTests {
    @Test func scalarPlanesEncryptAndDecryptLikeNativeOnes() throws {
        var random = SeededBytes(seed: 12)
        for _ in 0..<20 {
            let key = SymmetricKey(random.bytes(32))
            let native = KeySchedule(key: key, path: .portable)
            let keys = (0...14).map { unsafe BitslicedBlocks<ScalarBitPlane>(native.bitsliced[$0]) }
            let blocks = (0..<8).map { _ in Block128(random.bytes(16)) }
            let eight = (
                blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5], blocks[6], blocks[7]
            )
            var scalar = BitslicedBlocks<ScalarBitPlane>(eight)
            unsafe keys.withUnsafeBufferPointer { unsafe scalar.encrypt($0.baseAddress!) }
            let result = scalar.blocks()
            let encrypted = [result.0, result.1, result.2, result.3, result.4, result.5, result.6, result.7]
            #expect(encrypted == blocks.map { PortableAES.encrypt($0, native) })
            unsafe keys.withUnsafeBufferPointer { unsafe scalar.decrypt($0.baseAddress!) }
            let again = scalar.blocks()
            #expect([again.0, again.1, again.2, again.3, again.4, again.5, again.6, again.7] == blocks)
        }
    }
}

extension BitslicedBlocks<ScalarBitPlane> {
    /// The same planes in the other representation.
    fileprivate init(_ native: BitslicedBlocks<NativeBitPlane>) {
        self = unsafe unsafeBitCast(native, to: BitslicedBlocks<ScalarBitPlane>.self)
    }
}
