import Roost
import RoostFile
import RoostIndex
import RoostQuery
import RoostSimulation
import RoostStorage

/// Full-text indexes whose entries are others than were written, under checksums that are right.
extension FuzzTarget {
    /// The input is a ``TextIndexDamage``.
    static let textIndex = FuzzTarget("text-index", largestInput: 256, seeds: { TextIndexDamage.samples }) {
        input in
        let disk = SimulatedMedium()
        let database = try textDatabase(disk)
        try database.auxiliaryStores.store("1")?.write { try TextIndexDamage(input).apply(to: $0) }
        try askForTexts(database)
    }

    private static let words = ["owl", "owls", "nest", "gable", "barn", "running", "the", "night"]

    /// A database with an index in three segments, some of whose documents are dead.
    private static func textDatabase(_ disk: SimulatedMedium) throws -> Database {
        let database = try Database.open("db", environment: StoreSeeds.environment(disk))
        let notes = try database.defaultCollection
        for number in 0..<40 {
            try notes.save(json: text(number), id: "d\(number)")
            if number % 16 == 9 { try notes.createTextIndex("text", on: "title, body", language: .english) }
        }
        for number in 0..<3 { try notes.save(json: text(number + 11), id: "d\(number)", expecting: .any) }
        try notes.indexes.update(notes)
        return database
    }

    private static func text(_ number: Int) -> String {
        let body = (0..<number % 7).map { words[(number * 5 + $0 * 3) % words.count] }
        return #"{"title":"the \#(words[number % words.count])","body":"\#(body.joined(separator: " "))"}"#
    }

    /// Entries are taken at their word, so nothing is asked of them but an end.
    private static func askForTexts(_ database: Database) throws {
        let notes = try database.defaultCollection
        func ask() {
            for query in [
                "owl", "the", "\"the owl\"", "owl NEAR/3 nest", "NOT owl", "barn OR gable", "o*", "=owls",
                "gabel~2",
                "title: ^the", "night NOT (owl NEAR nest)",
            ] {
                let found = try? notes.search("text", query, limit: 60)
                _ = found?.first?.snippet
                // The best few are found in another way.
                if !query.contains(" ") { _ = try? notes.search("text", query, limit: 1) }
            }
            _ = try? notes.completions("text", of: "o")
        }
        ask()
        // Enough for segments to be merged.
        for number in 0..<9 {
            _ = try? notes.save(json: text(number + 50), id: "d\(number * 3)", expecting: .any)
            try? notes.indexes.update(notes)
        }
        ask()
        try? notes.dropTextIndex("text")
        try notes.createTextIndex("text", on: "title, body", language: .english)
        try demand(
            try notes.searchCount("text", "the") == 40,
            "an index that was made anew is not that of the documents")
        try database.close()
    }
}

/// Changes to entries of an index, as bytes: for each, its kind, which entry, where in it, how long what follows is, and that.
struct TextIndexDamage {
    private var input: ArraySlice<UInt8>

    init(_ input: [UInt8]) { self.input = input[...] }

    static let samples: [[UInt8]] = [
        // The state, and entries here and there, are given other values.
        [0, 0, 4, 1, 0xFF], [4, 0, 1, 0], [8, 9, 1, 3, 0xFF, 0xFF, 0x7F, 8, 30, 2, 2, 0x80, 0x80],
        // Entries are cut, removed, and put where none was.
        [5, 3, 2, 0, 5, 70, 1, 0], [6, 20, 0, 0, 7, 12, 0, 4, 1, 0, 0, 0], [1, 5, 0, 2, 9, 9],
    ]

    private mutating func byte() -> Int? { input.popFirst().map { Int($0) } }

    /// Changes up to eight entries.
    func apply(to transaction: StoreTransaction) throws {
        var copy = self
        for _ in 0..<8 {
            guard let kind = copy.byte(), let place = copy.byte(), let offset = copy.byte(),
                let length = copy.byte()
            else { return }
            let bytes = Array(copy.input.prefix(length))
            copy.input = copy.input.dropFirst(length)
            try change(kind, place, offset, bytes, transaction)
        }
    }

    private func change(
        _ kind: Int, _ place: Int, _ offset: Int, _ bytes: [UInt8], _ transaction: StoreTransaction
    ) throws {
        let name = kind & 1 == 0 || kind == 5 ? "rows/1" : "documents/1"
        let tree = try transaction.tree(name)
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try transaction[tree].forEach { key, value in
            entries.append((key.bytes, value))
            return true
        }
        guard !entries.isEmpty else { return }
        let (key, value) = entries[place % entries.count]
        let start = min(offset, value.count)
        let end = min(start + bytes.count, value.count)
        switch kind / 2 % 6 {
        case 0: try transaction.put(Key(key), Array(value[..<start]) + bytes + value[end...], in: tree)
        case 1: try transaction.put(Key(key), bytes, in: tree)
        case 2: try transaction.put(Key(key), Array(value[..<start]), in: tree)
        case 3: try transaction.delete(Key(key), in: tree)
        case 4:
            // An entry under another key of its kind.
            let cut = min(1 + offset % 12, key.count)
            try transaction.put(Key(Array(key[..<cut]) + bytes), value, in: tree)
        default: try transaction.put(Key(key), entries[(place + 1 + offset) % entries.count].value, in: tree)
        }
    }
}
