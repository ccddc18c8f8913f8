import RoostBlobs
import RoostCrypto
import RoostSimulation
import Testing

/// A copy of a directory of blobs gets what it lacks, and keeps what can be read there.
@Suite struct MirrorTests {
    private let text = Array(String(repeating: "gable ", count: 2000).utf8)
    private let keys = (1...3).map { SymmetricKey([UInt8](repeating: $0, count: 32)) }

    private func sealed(_ numbers: Int...) -> BlobLayout { .sealed(BlobKeys(numbers.map { keys[$0] })) }

    /// Two empty stores on one disk, the second for copies of what is in the first.
    private func stores(_ source: BlobLayout, _ copy: BlobLayout) throws -> (TestStore, copy: BlobStore) {
        let test = try TestStore(source)
        try test.disk.createDirectory("copy")
        return (test, BlobStore("copy/blobs", copy, environment: test.simulation.environment))
    }

    private func compressed() -> BlobWriteOptions {
        var options = BlobWriteOptions()
        options.compresses = true
        return options
    }

    private func mirror(_ source: BlobStore, _ copy: BlobStore, spares: Bool = false) throws {
        let mirror = try BlobMirror(of: source, in: copy, sparesUnreadable: spares)
        #expect(try mirror.copyMissing { _ in })
        try mirror.removeOthers()
    }

    @Test func anotherFormUnderALaterKeyReplacesNothing() throws {
        let (test, copy) = try stores(sealed(0, 1), sealed(0))
        let digest = try copy.put(text).digest
        let name = try #require(try copy.files().first?.name)
        let before = test.disk.contents(of: "copy/blobs/\(name)")
        try test.store.put(text, compressed())
        #expect(test.disk.contents(of: test.path(name)) != before)
        for spares in [false, true] { try mirror(test.store, copy, spares: spares) }
        #expect(test.disk.contents(of: "copy/blobs/\(name)") == before)
        #expect(try copy.get(digest) == text)
    }

    /// Also where it has the size of the one here.
    @Test(arguments: [false, true])
    func whatAForeignKeySealedIsReplacedOrStandsInTheWay(compresses: Bool) throws {
        let (test, copy) = try stores(sealed(0, 1), sealed(0, 2))
        let digest = try copy.put(text).digest
        try test.store.put(text, compresses ? compressed() : BlobWriteOptions())
        #expect(code { try mirror(test.store, copy, spares: true) } == .unsupportedFormat)
        #expect(try copy.get(digest) == text)
        try mirror(test.store, copy)
        copy.setLayouts([sealed(0, 1)])
        #expect(try copy.get(digest) == text)
    }

    @Test(arguments: [0, 1])
    func whatIsDamagedHereReplacesNothing(layout: Int) throws {
        let layout = [BlobLayout.plain, .testSealed][layout]
        let (test, copy) = try stores(layout, layout)
        let digest = try test.store.put(text).digest
        try mirror(test.store, copy)
        let path = test.path(try test.names()[0])
        let file = try test.disk.open(path, .readWrite)
        try file.truncate(to: 5000)
        for spares in [false, true] { try mirror(test.store, copy, spares: spares) }
        #expect(try copy.get(digest) == text)
    }

    @Test(arguments: [0, 1])
    func whatIsDamagedThereIsReplaced(layout: Int) throws {
        let layout = [BlobLayout.plain, .testSealed][layout]
        let (test, copy) = try stores(layout, layout)
        let digest = try test.store.put(text).digest
        try mirror(test.store, copy)
        try test.disk.open("copy/blobs/\(try test.names()[0])", .readWrite).truncate(to: 5000)
        #expect(code { _ = try copy.get(digest) } == .damaged)
        try mirror(test.store, copy)
        #expect(try copy.get(digest) == text)
    }

    @Test func aSecondCopyWritesNothing() throws {
        let (test, copy) = try stores(sealed(0, 1), sealed(0, 1))
        for number in 0..<5 as Range<UInt8> { try test.store.put([number]) }
        try mirror(test.store, copy)
        let mirror = try BlobMirror(of: test.store, in: copy)
        #expect(mirror.missingBytes == 0 && mirror.bytes > 0)
    }

    @Test func aFileThatWentAwayMeanwhileIsTold() throws {
        let (test, copy) = try stores(.plain, .plain)
        try test.store.put(text)
        let mirror = try BlobMirror(of: test.store, in: copy)
        _ = try test.store.remove(try test.store.files())
        #expect(try !mirror.copyMissing { _ in })
        // There is nothing to copy now.
        #expect(try BlobMirror(of: test.store, in: copy).copyMissing { _ in })
    }
}
