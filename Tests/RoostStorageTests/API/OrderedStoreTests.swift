import RoostStorage
import Testing

/// The ordered store as its users call it: ranges, cursors, and what it refuses.
@Suite struct OrderedStoreTests {
    let directory: TemporaryDirectory
    let store: Store
    let tree: Tree

    /// Holds the numbers 0, 2, … 1998 as keys, each with its own bytes as the value.
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory.file("store"))
        let tree = try store.tree("numbers")
        try store.write { transaction in
            for number in stride(from: 0, to: 2000, by: 2) {
                try transaction.put(Key(UInt64(number)), Array("\(number)".utf8), in: tree)
            }
        }
        self.tree = tree
    }

    private func key(_ number: Int) -> Key { Key(UInt64(number)) }

    @Test func rangesOfEveryKindCountWhatIsInThem() throws {
        let view = try store.snapshot()[tree]
        #expect(try view.count(in: KeyRange(key(10)..<key(20))) == 5)
        #expect(try view.count(in: KeyRange(key(10)...key(20))) == 6)
        #expect(try view.count(in: KeyRange(key(1990)...)) == 5)
        #expect(try view.count(in: KeyRange(..<key(10))) == 5)
        #expect(try view.count(in: KeyRange(...key(10))) == 6)
        #expect(try view.count(in: KeyRange(...key(9))) == 5)
    }

    @Test func cursorsGoToKeysAndPlaces() throws {
        let cursor = try store.snapshot()[tree].cursor(KeyRange(key(10)..<key(1000)))
        #expect(try cursor.seek(key(501)))
        #expect(cursor.key == key(502))
        #expect(try cursor.previous())
        #expect(cursor.key == key(500))
        #expect(try cursor.seek(key(3)))
        #expect(cursor.key == key(10), "a cursor stays within its range")
        #expect(try !cursor.seek(key(1000)))
        #expect(try cursor.seek(offset: 7))
        #expect(cursor.key == key(24))
        #expect(try !cursor.seek(offset: 495))
        #expect(try cursor.seek(offset: 494))
        #expect(cursor.key == key(998))
        #expect(try !cursor.seek(offset: .max))
        #expect(try cursor.previous())
        #expect(cursor.key == key(998), "from the end backwards")
        let empty = try store.snapshot()[tree].cursor(KeyRange(key(5)..<key(5)))
        #expect(try !empty.seek(key(5)))
        #expect(try !empty.seek(offset: 0))
    }

    @Test func theFirstAndTheLast() throws {
        let view = try store.snapshot()[tree]
        #expect(try view.first()?.key == key(0))
        #expect(try view.last()?.key == key(1998))
        #expect(try view.last()?.value == Array("1998".utf8))
        let empty = try store.tree("empty")
        #expect(try store.snapshot()[empty].first() == nil)
        #expect(try store.snapshot()[empty].last() == nil)
    }

    @Test func bytesOfYourOwnAreReadAndWrittenInPlace() throws {
        let place = Array("place".utf8)
        try unsafe place.withUnsafeBytes { bytes in
            try store.write { try unsafe $0.put(bytes, bytes, in: tree) }
            let view = try store.snapshot()[tree]
            #expect(try unsafe view.value(bytes) == place)
            #expect(try unsafe view.withValue(bytes) { unsafe Array($0) } == place)
            let cursor = view.cursor()
            #expect(try cursor.seek(Key(place)))
            #expect(try unsafe cursor.withEntry { unsafe Array($0) == place && Array($1) == place })
            try store.write { try unsafe $0.delete(bytes, in: tree) }
            #expect(try unsafe store.snapshot()[tree].value(bytes) == nil)
        }
    }

    @Test func whatIsTooLongIsRefused() throws {
        let longest = Key([UInt8](repeating: 1, count: 4096))
        try store.write { try $0.put(longest, [], in: tree) }
        #expect(try store.read { try $0[tree].value(longest) } == [])
        let longer = Key([UInt8](repeating: 1, count: 4097))
        #expect(code { try store.write { try $0.put(longer, [], in: tree) } } == .limitExceeded)
        for name in ["", String(repeating: "n", count: 256)] {
            #expect(code { _ = try store.tree(name) } == .limitExceeded)
        }
        #expect(try store.tree(String(repeating: "n", count: 255)).name.utf8.count == 255)
    }

    @Test func aTreeWithoutReductionHasNoneToRead() throws {
        #expect(code { _ = try store.snapshot()[tree].reduction() } == .missingReduction)
    }
}
