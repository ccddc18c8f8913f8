import RoostBytes
import Testing

@Suite struct XXH3Tests {
    /// The input of the reference implementation's own vectors (xxHash 0.8, tests/sanity_test_vectors.h).
    private static let sanityBuffer: [UInt8] = {
        var state: UInt64 = 0x9E37_79B1
        return (0..<8192).map { _ in
            defer { state = state &* 0x9E37_79B1_85EB_CA8D }
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()

    private static func hash(_ length: Int) -> UInt64 {
        sanityBuffer.withView { XXH3.hash($0.slice(0, length)) }
    }

    /// Seed 0; at least one length of each way in which inputs are hashed.
    @Test func publishedVectors() {
        let vectors: [(length: Int, hash: UInt64)] = [
            (0, 0x2D06_8005_38D3_94C2), (1, 0xC44B_DFF4_074E_ECDB), (6, 0x27B5_6A84_CD2D_7325),
            (12, 0xA713_DAF0_DFBB_77E7), (24, 0xA3FE_70BF_9D35_10EB), (48, 0x397D_A259_ECBA_1F11),
            (80, 0xBCDE_FBBB_2C47_C90A), (195, 0xCD94_217E_E362_EC3A), (403, 0xCDEB_804D_65C6_DEA4),
            (512, 0x617E_4959_9013_CB6B), (2048, 0xDD59_E2C3_A5F0_38E0), (2240, 0x6E73_A905_39CF_2948),
            (2367, 0xCB37_AEB9_E5D3_61ED),
        ]
        for (length, hash) in vectors { #expect(Self.hash(length) == hash, "\(length) bytes") }
    }

    @Test func whatIsAddedInPartsHashesAsTheWhole() {
        Self.sanityBuffer.withView { bytes in
            for total in [1088, 1100, 2048, 3904, 5000, 8192] {
                for first in stride(from: 0, through: total - 64, by: XXH3.blockLength) {
                    var hash = XXH3()
                    for block in stride(from: 0, to: first, by: XXH3.blockLength) {
                        hash.update(bytes.slice(block, XXH3.blockLength))
                    }
                    #expect(hash.finalize(bytes.slice(first, total - first)) == Self.hash(total))
                }
            }
        }
    }

    /// Whatever the length, and so in each part of each way.
    @Test func everyByteHasASay() {
        for length in [1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 128, 129, 240, 241, 300, 1024, 1025, 1090] {
            var bytes = Array(Self.sanityBuffer.prefix(length))
            for place in bytes.indices {
                bytes[place] ^= 1
                #expect(bytes.withView { XXH3.hash($0) } != Self.hash(length), "\(place) of \(length)")
                bytes[place] ^= 1
            }
        }
    }
}
