import RoostFile
import Testing

@testable import RoostStorage

/// Values read from a mapping: only what is on the medium, verified as always.
@Suite struct MappedValuesTests {
    private let directory = try! TemporaryDirectory()
    private var path: String { directory.file("store") }

    private func options(_ durability: StoreOptions.Durability = .full) -> StoreOptions {
        var options = StoreOptions()
        options.valueAccess = .mapping
        options.durability = durability
        options.compactsAutomatically = false
        return options
    }

    private func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 1000 + number) }

    /// The chunk that the entry under `key` leads to.
    private func chunk(_ key: Key, _ snapshot: Snapshot, _ tree: Tree) throws -> ChunkReference {
        let found = try key.bytes.withView { try snapshot[tree].withEntry($0) { _, value in value } }
        return try #require(found ?? nil).chunk
    }

    @Test func syncedValuesAreReadFromTheMapping() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        try store.write { for number in 0..<50 { try $0.put(Key("\(number)"), value(number), in: tree) } }
        let snapshot = store.snapshot()
        for number in 0..<50 {
            #expect(try snapshot[tree].value(Key("\(number)")) == value(number))
            let place = try chunk(Key("\(number)"), snapshot, tree)
            #expect(snapshot.state.file.mapped?.find(place) != nil)
        }
        var scanned = 0
        try snapshot[tree].forEach { key, found in
            scanned += 1
            return Key("\(found.count - 1000)") == key
        }
        #expect(scanned == 50)
    }

    @Test func whatIsNotSyncedIsReadByCalls() throws {
        let store = try Store.open(path, options: options(.relaxed(interval: 3600)))
        let tree = try store.tree("values")
        try store.write { try $0.put("key", value(1), in: tree) }
        let snapshot = store.snapshot()
        let place = try chunk("key", snapshot, tree)
        #expect(snapshot.state.file.mapped?.find(place) == nil)
        #expect(try snapshot[tree].value("key") == value(1))
        try store.sync()
        #expect(snapshot.state.file.mapped?.find(place) != nil)
        #expect(try snapshot[tree].value("key") == value(1))
    }

    /// A place that no file has, as a damaged node may name it.
    @Test func placesBeyondTheFileAreNeverTouched() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        try store.write { try $0.put("key", value(1), in: tree) }
        let file = store.state.file
        let end = store.state.record.end
        for offset in [end, end - 10, end + 1 << 30, 1 << 41, ChunkReference.maximumOffset - 100] {
            #expect(file.mapped?.find(ChunkReference(offset: offset, length: 100)) == nil)
        }
        #expect(file.mapped?.find(ChunkReference(offset: 0, length: 0)) == nil)
    }

    @Test func flippedBytesAreFound() throws {
        do {
            let store = try Store.open(path, options: options())
            let tree = try store.tree("values")
            try store.write { try $0.put("key", value(1), in: tree) }
            try store.close()
        }
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let place = try chunk("key", store.snapshot(), tree)
        try FileBytes(path: path).flip(place.offset + 100)
        let error = #expect(throws: StoreError.self) { try store.snapshot()[tree].value("key") }
        #expect(error?.code == .damaged)
    }

    @Test func compactionAndReadersMapToo() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        try store.write { for number in 0..<50 { try $0.put(Key("\(number)"), value(number), in: tree) } }
        let before = store.snapshot()
        try store.compact()
        #expect(store.state.file.mapped?.find(try chunk("7", store.snapshot(), tree)) != nil)
        #expect(try store.snapshot()[tree].value("7") == value(7))
        #expect(try before[tree].value("7") == value(7))
        var reading = options()
        reading.readOnly = true
        let reader = try Store.open(path, options: reading)
        try store.write { try $0.put("7", value(8), in: tree) }
        try store.write { try $0.put("other", value(9), in: tree) }
        try reader.refresh()
        let snapshot = reader.snapshot()
        #expect(snapshot.state.file.mapped?.find(try chunk("7", snapshot, tree)) != nil)
        #expect(try snapshot[tree].value("7") == value(8))
        #expect(try snapshot[tree].value("other") == value(9))
    }
}
