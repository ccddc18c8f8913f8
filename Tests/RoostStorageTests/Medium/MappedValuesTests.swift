import ChildProcesses
import Foundation
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
            #expect(snapshot.state.file.mappedPlaces?.find(place) != nil)
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
        #expect(snapshot.state.file.mappedPlaces?.find(place) == nil)
        #expect(try snapshot[tree].value("key") == value(1))
        try store.sync()
        #expect(snapshot.state.file.mappedPlaces?.find(place) != nil)
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
            #expect(file.mappedPlaces?.find(ChunkReference(offset: offset, length: 100)) == nil)
        }
        #expect(file.mappedPlaces?.find(ChunkReference(offset: 0, length: 0)) == nil)
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

    /// What another program has cut off, or the device can't read, is an error; the process goes on, and so do other reads.
    @Test func pagesThatCannotBeReadAreErrors() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let long = [UInt8](repeating: 7, count: 60_000)
        try store.write { try $0.put("first", value(1), in: tree) }
        try store.write { try $0.put("last", long, in: tree) }
        let snapshot = store.snapshot()
        #expect(try snapshot[tree].value("first") == value(1))
        let place = try chunk("last", snapshot, tree)
        try cutOff(Int(place.offset) + 8192)
        let lostPages = try #require(snapshot.state.file.mapped).lostPages
        let error = #expect(throws: StoreError.self) { try snapshot[tree].value("last") }
        #expect(error?.code == .damaged)
        let cursor = try snapshot[tree].cursor()
        #expect(try cursor.next())
        #expect(try cursor.value() == value(1))
        #expect(try cursor.next())
        #expect(throws: StoreError.self) { try cursor.value() }
        #expect(lostPages.count.value > 0)
        #expect(try snapshot[tree].value("first") == value(1))
    }

    @Test func nodesThatCannotBeReadAreErrors() throws {
        do {
            let store = try Store.open(path, options: options())
            let tree = try store.tree("values")
            try store.write { for number in 0..<50 { try $0.put(Key("\(number)"), value(number), in: tree) } }
            let transaction = try store.beginWriting()
            if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
            try store.close()
        }
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let lostPages = try #require(store.snapshot().state.file.mapped).lostPages
        let place = try #require(try store.snapshot()[tree].reader.root.handle).chunk
        let before = lostPages.count.value
        #expect(store.snapshot().state.file.mappedPlaces?.find(place) != nil)
        try cutOff(Int(place.offset) / 4096 * 4096)
        let error = #expect(throws: StoreError.self) { try store.snapshot()[tree].value("7") }
        #expect(error?.code == .damaged)
        #expect(lostPages.count.value > before)
    }

    /// A page that goes while a value is in use is noticed when the use ends.
    @Test func pagesLostDuringAReadAreErrors() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let long = [UInt8](repeating: 7, count: 60_000)
        try store.write { try $0.put("last", long, in: tree) }
        let cursor = try store.snapshot()[tree].cursor()
        #expect(try cursor.next())
        let place = try chunk("last", store.snapshot(), tree)
        var sum = 0
        var failure: StoreError?
        do throws(StoreError) {
            unsafe try cursor.withEntry { _, value in
                try? cutOff(Int(place.offset) + 8192)
                for index in 0..<value.count { sum += unsafe Int(value[index]) }
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == .inputOutput)
        #expect(sum > 0 && sum < 7 * long.count)
    }

    /// Signals that are not the store's go to the host program's handler.
    @Test func otherSignalsAreLeftToTheHost() throws {
        let child = try ChildProcess(["fault", path])
        #expect(child.readToEnd() == "1000\n")
        #expect(child.finish() == 3)
    }

    private func cutOff(_ length: Int) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.truncate(atOffset: UInt64(length))
        try file.close()
    }

    /// Longer values would be read page by page.
    @Test func longValuesAreReadByCalls() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let long = [UInt8](repeating: 7, count: 100_000)
        try store.write { try $0.put("long", long, in: tree) }
        let snapshot = store.snapshot()
        #expect(snapshot.state.file.mappedPlaces?.find(try chunk("long", snapshot, tree)) == nil)
        #expect(try snapshot[tree].value("long") == long)
    }

    /// Scans have the file read ahead of them, however long they are.
    @Test func scansGoThroughManyStretches() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        let body = [UInt8](repeating: 9, count: 10_000)
        try store.write { for number in 0..<2000 { try $0.put(Key(UInt64(number)), body, in: tree) } }
        for _ in 0..<2 {
            let cursor = try store.snapshot()[tree].cursor()
            var count = 0
            while try cursor.next() {
                #expect(try cursor.value() == body)
                count += 1
            }
            #expect(count == 2000)
        }
    }

    @Test func compactionAndReadersMapToo() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("values")
        try store.write { for number in 0..<50 { try $0.put(Key("\(number)"), value(number), in: tree) } }
        let before = store.snapshot()
        try store.compact()
        #expect(store.state.file.mappedPlaces?.find(try chunk("7", store.snapshot(), tree)) != nil)
        #expect(try store.snapshot()[tree].value("7") == value(7))
        #expect(try before[tree].value("7") == value(7))
        var reading = options()
        reading.isReadOnly = true
        let reader = try Store.open(path, options: reading)
        try store.write { try $0.put("7", value(8), in: tree) }
        try store.write { try $0.put("other", value(9), in: tree) }
        try reader.refresh()
        let snapshot = reader.snapshot()
        #expect(snapshot.state.file.mappedPlaces?.find(try chunk("7", snapshot, tree)) != nil)
        #expect(try snapshot[tree].value("7") == value(8))
        #expect(try snapshot[tree].value("other") == value(9))
    }
}
