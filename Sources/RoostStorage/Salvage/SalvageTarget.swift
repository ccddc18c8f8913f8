import RoostBytes
import RoostFile

/// The new store of a salvage, filled in transactions of bounded size.
///
/// Which value went where is kept in a tree of its own while it is needed, so that values shared in the damaged file
/// are shared again, however many there are.
final class SalvageTarget {
    private let store: Store
    private let source: DataFile
    private var transaction: StoreTransaction
    /// By the identifier in the damaged file.
    private var trees: [UInt64: Tree] = [:]
    private var values: Tree
    private var bytes = 0
    /// Whether there are values that several entries lead to, of which the owner may be missing.
    private var sharesValues = false

    /// Names that no tree of a user's can have been given, because names hold no such byte in practice.
    private static let valuesName = "\u{1}salvaged values"
    private static let batch = 4 << 20

    init(_ store: Store, source: DataFile) throws(StoreError) {
        self.store = store
        self.source = source
        transaction = try store.beginWriting()
        values = try transaction.tree(SalvageTarget.valuesName)
    }

    /// Makes the tree that stands for `id` of the damaged file. A name that is taken gets a number.
    func create(_ id: UInt64, name: String, reduction: String) throws(StoreError) {
        guard trees[id] == nil else { return }
        var unique = name
        while transaction.trees.trees.tree(unique) != nil { unique += "-\(id)" }
        trees[id] = try transaction.tree(unique, reductionName: reduction)
    }

    func drop(_ id: UInt64) throws(StoreError) {
        guard let tree = trees.removeValue(forKey: id) else { return }
        try transaction.drop(tree)
    }

    func name(_ id: UInt64) -> String? { trees[id]?.name }

    /// Puts an entry of the damaged file; `false` when its value can't be read.
    func put(_ id: UInt64, _ key: ByteView, _ entry: Entry) throws(StoreError) -> Bool {
        guard let tree = trees[id], key.count <= Format.maximumKeyLength else { return false }
        var copy = entry
        if entry.kind != .none {
            guard let chunk = try value(entry) else { return false }
            copy.chunk = chunk
        }
        try transaction.change(tree) { (editor) throws(StoreError) in try editor.put(key, copy) }
        try count(key.count + entry.inline.count + 16)
        return true
    }

    /// Where the entry's value is in the new store, copied when it is not there yet.
    private func value(_ entry: Entry) throws(StoreError) -> ChunkReference? {
        let isShared = entry.kind != .owned
        if isShared { sharesValues = true }
        let key = Key(entry.chunk.offset)
        if isShared, let known = try transaction[values, key] {
            return known.withView {
                ChunkReference(offset: $0.load(at: 0), length: $0.load(at: 8))
            }
        }
        guard let payload = try? source.payload(.value, entry.chunk) else { return nil }
        let chunk = try payload.withView { (bytes) throws(StoreError) in
            try transaction.append(value: bytes).chunk
        }
        if isShared {
            let place = ByteBuffer()
            place.append(integer: chunk.offset)
            place.append(integer: chunk.length)
            let copy = place.view.array
            try transaction.put(key, copy, in: values)
        }
        try count(payload.count)
        return chunk
    }

    func delete(_ id: UInt64, _ key: [UInt8]) throws(StoreError) {
        guard let tree = trees[id] else { return }
        try transaction.delete(Key(key), in: tree)
        try count(key.count + 16)
    }

    func delete(_ id: UInt64, _ span: KeySpan) throws(StoreError) {
        guard let tree = trees[id] else { return }
        try transaction.delete(span.range, in: tree)
        try count(64)
    }

    /// Commits when enough has come together, never between an entry and its value.
    private func count(_ count: Int) throws(StoreError) {
        bytes += count
        guard bytes > SalvageTarget.batch else { return }
        bytes = 0
        try transaction.commit()
        transaction = try store.beginWriting()
    }

    /// Gives the transaction up; the file is about to go.
    func abandon() { transaction.rollback() }

    /// Completes the new store. Values that lost their owners get new ones.
    func finish() throws(StoreError) -> (trees: Int, entries: UInt64) {
        try transaction.drop(values)
        try transaction.commit()
        if sharesValues { try SharingRepair(store).run() }
        let state = store.state
        return (state.trees.count, state.trees.weight.summary.count)
    }
}
