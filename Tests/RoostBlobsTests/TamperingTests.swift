import RoostBlobs
import RoostCrypto
import RoostFile
import RoostSimulation
import Testing

/// Whatever is done to an encrypted file, it is noticed before a changed byte is handed out.
@Suite struct TamperingTests {
    private let test: TestStore
    private let bytes = content(2 * 4080 + 1000)
    private let digest: BlobDigest
    private let path: String
    private let good: [UInt8]

    init() throws {
        test = try TestStore(.testSealed)
        digest = try test.store.put(bytes).digest
        let name = try #require(try test.names().first)
        path = test.path(name)
        good = test.contents(name)
    }

    /// Whether reading the whole file in `bytes`, and verifying it, both fail.
    private func isCaught(_ changed: [UInt8]) throws -> Bool {
        try test.disk.install(changed, at: path)
        defer { try? test.disk.install(good, at: path) }
        let reading = code { _ = try test.store.get(digest) }
        let verifying = try test.store.verify().damaged.count
        return (reading == .damaged || reading == .unsupportedFormat) && verifying == 1
    }

    private func frame(_ index: Int, of file: [UInt8]) -> ArraySlice<UInt8> {
        file[(index * 4096)..<min((index + 1) * 4096, file.count)]
    }

    @Test func theFileIsFine() throws { #expect(try !isCaught(good)) }

    @Test func everyFlippedByteIsCaught() throws {
        for offset in good.indices {
            var bad = good
            bad[offset] ^= UInt8(1 << (offset % 8))
            let isCaught = try isCaught(bad)
            #expect(isCaught, "byte \(offset)")
        }
    }

    @Test func everyTruncationIsCaught() throws {
        for length in good.indices {
            let isCaught = try isCaught(Array(good[..<length]))
            #expect(isCaught, "\(length)")
        }
    }

    @Test func extensionsAreCaught() throws {
        #expect(try isCaught(good + [0]))
        #expect(try isCaught(good + frame(1, of: good)))
        #expect(try isCaught(good + [UInt8](repeating: 0, count: 4096)))
    }

    @Test func reorderedAndRepeatedFramesAreCaught() throws {
        let file = try TestStore(.testSealed)
        let long = content(5 * 4080)
        let blob = try file.store.put(long)
        let name = try file.names()[0]
        let sealed = file.contents(name)
        for (first, second) in [(1, 2), (1, 3), (2, 4)] {
            for isSwap in [true, false] {
                var bad = sealed
                let (a, b) = (Array(frame(first, of: sealed)), Array(frame(second, of: sealed)))
                bad.replaceSubrange(second * 4096..<second * 4096 + 4096, with: a)
                if isSwap { bad.replaceSubrange(first * 4096..<first * 4096 + 4096, with: b) }
                try file.disk.install(bad, at: file.path(name))
                #expect(code { _ = try file.store.get(blob.digest) } == .damaged)
            }
        }
    }

    @Test func framesAndHeadersOfOtherFilesAreCaught() throws {
        // The same content under the same key: only the salt differs, as in the file that was there before.
        let other = try TestStore(.testSealed, seed: 2)
        try other.store.put(bytes)
        let old = other.contents(try other.names()[0])
        #expect(old.count == good.count && old != good)
        for index in 0..<3 {
            var bad = good
            bad.replaceSubrange(
                index * 4096..<index * 4096 + frame(index, of: old).count, with: frame(index, of: old))
            #expect(try isCaught(bad), "frame \(index)")
        }
        #expect(try isCaught(Array(old[..<120]) + Array(good[120...])))
        #expect(try isCaught(Array(good[..<48]) + Array(old[48..<120]) + Array(good[120...])))
    }

    @Test func aFileInAnotherOnesPlaceIsCaught() throws {
        let impostor = content(bytes.count, seed: 9)
        let second = try test.store.put(impostor).digest
        let name = try #require(try test.names().first { test.path($0) != path })
        #expect(try test.store.get(second) == impostor)
        #expect(try isCaught(test.contents(name)))
    }

    @Test func anotherKeyOpensNothing() throws {
        let stranger = BlobStore(
            TestStore.directory, .sealed(BlobKeys([BlobLayout.key, .random()])),
            environment: test.simulation.environment)
        #expect(try stranger.get(digest) == bytes)
        let wrong = BlobStore(
            TestStore.directory, .sealed(BlobKeys([.random()])), environment: test.simulation.environment)
        #expect(try wrong.open(digest) == nil)
        #expect(try wrong.verify().damaged.count == 1)
    }

    @Test func damagedPlainBlobsAreFound() throws {
        let plain = try TestStore(.plain)
        var options = BlobWriteOptions()
        options.compresses = true
        for (isCompressed, offset) in [(false, 0), (false, 500), (true, 20), (true, 300)] {
            let blob = try plain.store.put(
                content(1000, seed: isCompressed ? 1 : 2), isCompressed ? options : .init())
            let name = try #require(try plain.names().first { $0.hasSuffix(isCompressed ? ".gz" : ".blob") })
            plain.disk.flip(plain.path(name), at: UInt64(offset))
            #expect(code { _ = try plain.store.get(blob.digest) } == .damaged)
            #expect(try plain.store.verify().damaged.count == 1)
            plain.disk.flip(plain.path(name), at: UInt64(offset))
        }
        #expect(try plain.store.verify().damaged.isEmpty)
    }
}
