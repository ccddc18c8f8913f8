import RoostBlobs
import RoostBytes
import RoostFile
import RoostSimulation
import Testing

/// What is written is read back, in whatever layout, in whatever pieces, from wherever.
@Suite struct BlobStoreTests {
    static let sizes = [
        0, 1, 15, 16, 17, 3959, 3960, 3961, 4079, 4080, 4081, 4095, 4096, 4097, 8039, 8040, 8041, 8159, 8160,
        8161,
        8191, 8192, 8193, 261_119, 261_120, 261_121, 600_000,
    ]

    @Test(arguments: BlobLayout.all.indices)
    func everySizeComesBack(_ layout: Int) throws {
        let test = try TestStore(BlobLayout.all[layout])
        for size in Self.sizes {
            let bytes = content(size, seed: UInt64(size))
            let blob = try test.store.put(bytes, step: size % 3 == 0 ? 1000 : 70_000)
            #expect(blob.digest == blobDigest(bytes))
            #expect(blob.length == UInt64(size))
            #expect(try test.store.get(blob.digest) == bytes, "\(size)")
            let reader = try #require(try test.store.open(blob.digest))
            #expect(reader.length == UInt64(size))
            for offset in [size - 1, 0, 4080, 4096, size / 2, 3960, size / 3, size - 5000] where offset >= 0 {
                for count in [1, 100, 4096, 20_000] {
                    let expected = Array(bytes.dropFirst(offset).prefix(count))
                    #expect(
                        try reader.read(count, at: UInt64(offset)) == expected, "\(size) \(offset) \(count)")
                }
            }
            #expect(try reader.read(10, at: UInt64(size)) == [])
            #expect(try reader.read(10, at: .max) == [])
        }
        #expect(try test.store.verify().damaged.isEmpty)
        #expect(try test.store.verify().count == Self.sizes.count)
    }

    @Test func filesHaveTheSizesOfTheirFormats() throws {
        let plain = try TestStore(.plain)
        let bytes = content(5000)
        try plain.store.put(bytes)
        #expect(plain.contents(try #require(try plain.names().first)) == bytes)
        for (size, expected) in [(0, 136), (1, 137), (3960, 4096), (3961, 4113), (8040, 8192), (8041, 8209)] {
            let sealed = try TestStore(.testSealed)
            try sealed.store.put(content(size))
            #expect(sealed.contents(try #require(try sealed.names().first)).count == expected)
        }
        for (size, expected) in [(0, 48), (37, 80), (4095, 4128), (4096, 4144)] {
            let compatible = try TestStore(.testCompatible)
            try compatible.store.put(content(size))
            #expect(compatible.contents(try #require(try compatible.names().first)).count == expected)
        }
    }

    @Test func namesTellTheDigestInPlainStoresOnly() throws {
        let plain = try TestStore(.plain)
        let empty = try plain.store.put([])
        #expect("\(empty.digest)" == "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
        #expect(try plain.names() == ["2jmj7l5rSw0yVb_vlWAYkK_YBwk=.blob"])
        #expect(BlobDigest("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=") == empty.digest)
        for bad in [
            "", "sha1-", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwl=",
            "md5-2jmj7l5rSw0yVb/vlWAYkA==", "sha256-2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "SHA1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        ] { #expect(BlobDigest(bad) == nil, "\(bad)") }
        let sealed = try TestStore(.testSealed)
        let other = try TestStore(.sealed(BlobKeys([.random()])))
        for test in [sealed, other] { try test.store.put([]) }
        #expect(try sealed.names() != other.names())
        for hidden in ["2jmj7l5r", "da39a3ee"] { #expect(try !sealed.names()[0].contains(hidden)) }
    }

    @Test func digestsAreWhatWasAskedFor() throws {
        let test = try TestStore()
        var options = BlobWriteOptions()
        options.algorithm = .sha256
        options.computesMD5 = true
        let blob = try test.store.put(Array("abc".utf8), options)
        #expect("\(blob.digest)" == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        #expect(Base64.encode(try #require(blob.md5)) == "kAFQmDzST7DWlj99KOF/cg==")
        #expect(try test.store.get(blob.digest) == Array("abc".utf8))
    }

    @Test func theSameContentIsStoredOnce() throws {
        for layout in BlobLayout.all {
            let test = try TestStore(layout)
            let first = try test.store.put(content(9000))
            let second = try test.store.put(content(9000))
            #expect(!first.wasThere && second.wasThere)
            #expect(try test.names().count == 1)
            #expect(try test.disk.list(TestStore.directory + "/incoming").isEmpty)
        }
    }

    @Test func aCutOffFileIsReplaced() throws {
        let test = try TestStore(.testSealed)
        let blob = try test.store.put(content(9000))
        test.disk.cut(test.path(try test.names()[0]), to: 5000)
        #expect(try !test.store.put(content(9000)).wasThere)
        #expect(try test.store.get(blob.digest) == content(9000))
    }

    /// What documents say of a blob's encoding goes on being so.
    @Test func aFileThatCannotBeOpenedNowIsNotReplacedByAnotherEncoding() throws {
        let test = try TestStore()
        let digest = try test.store.put(content(9000)).digest
        let names = try test.names()
        var options = BlobWriteOptions()
        options.compresses = true
        test.disk.faults.fail(.open, at: test.disk.counts[.open] + 1)
        #expect(code { try test.store.put(content(9000), options) } == .inputOutput)
        #expect(try test.names() == names)
        #expect(try test.store.put(content(9000), options).encoding == .identity)
        // One that is damaged gives its place.
        test.disk.cut(test.path(names[0]), to: 5000)
        #expect(try test.store.put(content(9000), options).encoding == .gzip)
        #expect(try test.names().count == 1)
        #expect(try test.store.get(digest) == content(9000))
    }

    @Test func whatIsNotInstalledIsGone() throws {
        let test = try TestStore()
        let writer = try BlobFileWriter(test.store)
        try writer.write(content(500_000))
        #expect(try test.disk.list(TestStore.directory + "/incoming").count == 1)
        writer.close()
        #expect(try test.disk.list(TestStore.directory + "/incoming").isEmpty)
        #expect(try test.names().isEmpty)
        #expect(code { _ = try writer.install() } == .closed)
        let wrong = try BlobFileWriter(test.store)
        #expect(code { _ = try wrong.install(expecting: blobDigest([1])) } == .contentChanged)
        #expect(try test.names().isEmpty)
        #expect(try test.store.open(blobDigest([])) == nil)
    }

    @Test func gzipIsStoredOnRequest() throws {
        let text = Array(String(repeating: "Swifts roost in gables. ", count: 40_000).utf8)
        var options = BlobWriteOptions()
        options.compresses = true
        for layout in [BlobLayout.plain, .testSealed] {
            let test = try TestStore(layout)
            let blob = try test.store.put(text, step: 7777, options)
            #expect(blob.digest == blobDigest(text))
            #expect(blob.encoding == .gzip && blob.storedLength < 10_000 && blob.length == UInt64(text.count))
            #expect(try test.store.get(blob.digest) == text)
            let reader = try #require(try test.store.open(blob.digest))
            #expect(reader.length == blob.length && reader.storedLength == blob.storedLength)
            for offset in [900_000, 10, 500_000, 499_999] {
                #expect(try reader.read(50, at: UInt64(offset)) == Array(text[offset..<offset + 50]))
            }
            // The content is the same, so the blob is.
            #expect(try test.store.put(text).encoding == .gzip)
            #expect(try test.names().count == 1)
        }
        let compatible = try TestStore(.testCompatible)
        #expect(try compatible.store.put(text, options).encoding == .identity)
    }

    @Test func enumerationTellsDigestsAndLengths() throws {
        for layout in BlobLayout.all {
            let test = try TestStore(layout)
            for size in [0, 10, 9000] { try test.store.put(content(size)) }
            var found: [BlobDigest: UInt64] = [:]
            try test.store.forEach { found[$0.digest] = $0.length }
            #expect(
                found == [blobDigest([]): 0, blobDigest(content(10)): 10, blobDigest(content(9000)): 9000])
        }
    }

    @Test func aReadTouchesOneFrame() throws {
        let test = try TestStore(.testSealed)
        let blob = try test.store.put(content(2_000_000))
        let reader = try #require(try test.store.open(blob.digest))
        let before = test.disk.counts
        _ = try reader.read(4080, at: 3960 + 4080 * 100)
        let cost = test.disk.counts - before
        #expect(cost[.read] == 1 && cost.bytesRead == 4096)
    }
}
