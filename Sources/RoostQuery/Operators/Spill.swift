import Fleece
import Foundation
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// Where an execution spills rows that exceed its memory: a store of its own, which goes with the value.
///
/// It is in the database's directory, encrypted when the database is; what a crash leaves of it goes when the indexes of the
/// database are next used. Beside a database that was opened for reading only nothing may be written: there it is a file in the
/// system's directory for temporary files, encrypted with a key that is not kept, and without a name once it is open.
///
/// Belongs to one thread.
final class Spill {
    private let store: Store
    private let remove: () -> Void
    private var trees = 0

    init(_ database: Database) throws(DatabaseError) {
        let name = "spill-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        guard !database.isReadOnly else {
            store = try Self.nameless(name)
            remove = {}
            return
        }
        // What crashes left is removed before there is something that must not be.
        _ = try database.defaultCollection.indexes
        let stores = database.auxiliaryStores
        guard let store = try stores.store(name) else {
            throw DatabaseError(.locked, "The file \(name), for spilled rows, is another process's.")
        }
        self.store = store
        remove = { try? stores.drop(name) }
    }

    private static func nameless(_ name: String) throws(DatabaseError) -> Store {
        let path = NSTemporaryDirectory() + "/roost-\(name).roost"
        var options = StoreOptions()
        options.durability = .unsynced
        options.transform = KeyRing(EncryptionKey.random())
        do throws(StoreError) {
            let store = try Store.open(path, options: options)
            try? FileManager.default.removeItem(atPath: path)
            return store
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw DatabaseError(derived: error)
        }
    }

    deinit { remove() }

    /// Calls `body` with a way to put entries into a new tree, and answers the tree.
    func tree(_ body: (_ put: (Key, [UInt8]) throws -> Void) throws -> Void) throws(DatabaseError) -> TreeView
    {
        trees += 1
        let name = "\(trees)"
        do {
            let tree = try store.write { transaction in
                let tree = try transaction.tree(name)
                try body { try transaction.put($0, $1, in: tree) }
                return tree
            }
            return try store.snapshot()[tree]
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

/// Sorts entries by a key; those that exceed the memory are spilled in sorted runs, which are merged. Entries of equal keys
/// stay in the order in which they came.
///
/// Belongs to one thread.
final class ExternalSort {
    struct Entry {
        let key: [UInt8]
        let value: [UInt8]

        var size: Int { key.count + value.count + 96 }

        /// The entry as it is spilled.
        var stored: [UInt8] {
            let buffer = ByteBuffer(capacity: size)
            key.withView { buffer.append(prefixed: $0) }
            buffer.append(value)
            return buffer.view.array
        }
    }

    private let budget: MemoryBudget
    private let openStore: () throws(DatabaseError) -> Spill
    private var pending: [Entry] = []
    private var pendingSize = 0
    private var runs: [TreeView] = []
    /// What was not returned yet, once reading has begun: the runs in their order, then what is in memory.
    private var sources: [Source]?

    init(_ execution: Execution) {
        budget = execution.budget
        openStore = { () throws(DatabaseError) in try execution.spill }
    }

    deinit { budget.wait(-pendingSize) }

    func add(_ key: [UInt8], _ value: [UInt8]) throws(DatabaseError) {
        let entry = Entry(key: key, value: value)
        if !budget.fits(entry.size), pendingSize >= budget.leastRun { try spill() }
        budget.wait(entry.size)
        pendingSize += entry.size
        pending.append(entry)
    }

    private func spill() throws(DatabaseError) {
        let spill = try openStore()
        sort()
        let entries = pending
        let run = try spill.tree { put in
            for (number, entry) in entries.enumerated() {
                try put(Key(UInt64(number)), entry.stored)
            }
        }
        runs.append(run)
        budget.wait(-pendingSize)
        pendingSize = 0
        pending = []
    }

    private func sort() {
        // Swift's sort is stable.
        pending.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The next entry in order; `nil` after the last. Nothing can be added once it was requested.
    func next() throws(DatabaseError) -> Entry? {
        if sources == nil {
            sort()
            var all: [Source] = []
            for (number, run) in runs.enumerated() { all.append(try Source(run, number)) }
            all.append(Source(pending))
            pending = []
            sources = all.filter { $0.entry != nil }
            for index in stride(from: (sources?.count ?? 0) / 2 - 1, through: 0, by: -1) { sink(index) }
        }
        guard let first = sources?.first, let entry = first.entry else { return nil }
        try first.advance()
        if first.entry == nil {
            let last = sources?.removeLast()
            if let last, last !== first { sources?[0] = last }
        }
        sink(0)
        return entry
    }

    /// Moves a source down until its entry comes before those of the sources below.
    private func sink(_ start: Int) {
        guard var heap = sources else { return }
        sources = nil
        defer { sources = heap }
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }

    /// Sorted entries, of a run or of memory.
    private final class Source {
        private(set) var entry: Entry?
        private let cursor: Cursor?
        /// The entries left in memory, the last first.
        private var rest: [Entry] = []
        private let number: Int
        private static let inMemory = Int.max

        init(_ run: TreeView, _ number: Int) throws(DatabaseError) {
            cursor = run.cursor()
            self.number = number
            try advance()
        }

        init(_ entries: [Entry]) {
            cursor = nil
            number = Self.inMemory
            rest = entries.reversed()
            entry = rest.popLast()
        }

        func advance() throws(DatabaseError) {
            guard let cursor else {
                entry = rest.popLast()
                return
            }
            do {
                guard try cursor.next() else {
                    entry = nil
                    return
                }
                entry = try Entry(stored: try cursor.value())
            } catch {
                throw DatabaseError(derived: error)
            }
        }

        func precedes(_ other: Source) -> Bool {
            guard let entry, let theirs = other.entry else { return entry != nil }
            let order = entry.key.withView { key in theirs.key.withView { key.compare($0) } }
            return order != 0 ? order < 0 : number < other.number
        }
    }
}

extension ExternalSort.Entry {
    /// The entry that was spilled as these bytes.
    init(stored bytes: [UInt8]) throws(MalformedBytes) {
        self = try bytes.withView { (view) throws(MalformedBytes) in
            var reader = ByteReader(view)
            let key = try reader.prefixed().array
            return Self(key: key, value: view.dropFirst(reader.position).array)
        }
    }
}

// MARK: - Distinct values

/// Values of groups, each of which an aggregate wants once, sorted by group, aggregate and value: on disk, where they exceed the
/// memory.
///
/// Belongs to one thread.
final class DistinctValues {
    private let sort: ExternalSort
    /// The entry that was read and not returned.
    private var coming: ExternalSort.Entry?
    private var isBegun = false

    init(_ execution: Execution) { sort = ExternalSort(execution) }

    /// - Parameters:
    ///   - key: what the value is compared by.
    ///   - measure: the number of the aggregate, below 65,536.
    ///   - group: the group's key; none is the beginning of another.
    func add(_ value: Value, _ key: [UInt8], of measure: Int, in group: [UInt8]) throws(DatabaseError) {
        var writer = FleeceWriter(capacity: 32)
        writer.write(value)
        let body: [UInt8]
        do throws(FleeceError) {
            body = try writer.finish()
        } catch {
            throw DatabaseError(.limitExceeded, "A value can't be spilled. \(error)", underlyingError: error)
        }
        let number = [UInt8(truncatingIfNeeded: measure >> 8), UInt8(truncatingIfNeeded: measure)]
        try sort.add(group + number + key, body)
    }

    /// The next value of a group, in the frame's arena; `nil` after the last. Groups have to be asked for in their order, and
    /// nothing can be added once one was.
    func next(of group: [UInt8], _ frame: Frame) throws(DatabaseError) -> (measure: Int, value: Value)? {
        if !isBegun {
            isBegun = true
            coming = try sort.next()
        }
        guard let entry = coming, entry.key.starts(with: group) else { return nil }
        repeat { coming = try sort.next() } while coming?.key == entry.key
        let number = Int(entry.key[group.count]) << 8 | Int(entry.key[group.count + 1])
        return (number, Value(FleeceNode(root: frame.arena.copy(entry.value))))
    }
}
