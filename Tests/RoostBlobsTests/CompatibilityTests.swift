import Foundation
import RoostBlobs
import RoostBytes
import RoostCrypto
import RoostFile
import RoostSimulation
import Testing

/// Couchbase Lite's encrypted blob files, against files put together with OpenSSL 3.0:
/// `openssl enc -aes-256-cbc -K 000102…1f -iv <block number>`, `-nopad` for all blocks but the last.
@Suite struct CompatibilityTests {
    private let nonce: [UInt8] = Array(0xf0...0xff) + Array(0xe0...0xef)

    private func install(_ file: [UInt8], of content: [UInt8], _ layout: BlobLayout) throws -> TestStore {
        let test = try TestStore(layout)
        // Makes the directory.
        try test.store.put([1])
        let stem = Base64.encode(blobDigest(content).bytes).replacing("/", with: "_")
        try test.disk.install(file, at: test.path(stem + ".blob"))
        return test
    }

    @Test func filesOfItsShippedCodeAreRead() throws {
        let content = (0..<4100).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251) }
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "Vectors/couchbase-4100.hex")
        let digits = Array(try String(contentsOf: url, encoding: .utf8).utf8.filter { $0 > 32 })
        let file = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        let test = try install(file, of: content, .testCompatible)
        #expect(try test.store.get(blobDigest(content)) == content)
        #expect(try test.store.verify().damaged.isEmpty)
        #expect(
            code { _ = try install(file, of: content, .testDocumented).store.get(blobDigest(content)) }
                == .damaged)
    }

    @Test func filesAsItsOverviewDocumentsThemAreRead() throws {
        let content = Array("swifts roost in gables".utf8)
        let file: [UInt8] = [
            0x62, 0x86, 0x66, 0x98, 0x6b, 0xfe, 0x3e, 0x0f, 0x37, 0xdc, 0x89, 0xf8, 0xc3, 0x3e, 0x8f, 0xfa,
            0x06, 0xfa, 0xdf, 0xdc, 0xd9, 0xaa, 0xc9, 0x40, 0x82, 0xae, 0x43, 0xfe, 0xb2, 0x4a, 0x51, 0xfc,
        ]
        let test = try install(file + nonce, of: content, .testDocumented)
        #expect(try test.store.get(blobDigest(content)) == content)
    }

    @Test func sizesThatItCannotWriteAreRefused() throws {
        for size in [0, 15, 32, 47, 49, 4097] {
            let test = try install([UInt8](repeating: 0, count: size), of: [7], .testCompatible)
            #expect(code { _ = try test.store.get(blobDigest([7])) } == .damaged, "\(size)")
        }
    }

    @Test func passwordsDeriveItsKey() {
        let key = PBKDF2.deriveKeyWithSHA256(
            password: SymmetricKey(Array("password123".utf8)), salt: Array("Salty McNaCl".utf8),
            rounds: 64_000)
        let expected = "ad3470ce03363552b20a4a70a4aec02cb7439f6202e75b231ab57f2d5e716909"
        #expect(
            unsafe key.withUnsafeBytes {
                unsafe $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            }
            .joined() == expected)
    }
}
