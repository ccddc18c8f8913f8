import RoostBytes
import RoostStorage
import Synchronization

/// Roost's engine: a tree by ID whose entries own the values and hold the sequence, and a tree by sequence whose
/// entries hold the ID and borrow the values, as the document layer lays them out.
final class RoostStore: CompactingContender {
    let store: Store
    let byID: Tree
    let bySequence: Tree
    /// The last sequence taken; changed inside write transactions only, of which there is one at a time.
    let lastSequence: Atomic<UInt64>

    init(_ request: OpenRequest, _ configure: (inout StoreOptions) -> Void = { _ in }) throws {
        var options = StoreOptions()
        options.compactsAutomatically = false
        if let cacheSize = request.cacheSize { options.cacheSize = cacheSize }
        configure(&options)
        store = try Store.open(request.directory + "/data.roost", options: options)
        byID = try store.tree("id")
        bySequence = try store.tree("sequence")
        let last = try store.snapshot()[bySequence].last()?.key.number ?? 0
        lastSequence = Atomic(last)
    }

    func makeWriter() throws -> any ContenderWriter { RoostWriter(store: self) }

    func makeReader() throws -> any ContenderReader { RoostReader(store: self) }

    func settle() throws {}

    func compact() throws { try store.compact() }

    func close() throws { try store.close() }
}

/// One transaction per commit.
final class RoostWriter: ContenderWriter {
    private let store: RoostStore
    private let sequence = ByteBuffer(capacity: 8)
    private let old = ByteBuffer(capacity: 8)

    init(store: RoostStore) { self.store = store }

    func commit(_ batch: Batch, _ kind: CommitKind) throws {
        let transaction = try store.store.beginWriting()
        var last = store.lastSequence.load(ordering: .relaxed)
        for index in 0..<batch.count {
            last += 1
            let id = unsafe ByteView(batch.id(index), count: DocumentID.size)
            if kind == .update { try removeOldSequence(id, transaction) }
            sequence.reset()
            sequence.append(integer: last.bigEndian.littleEndian)
            let value = try transaction.append(
                value: unsafe ByteView(batch.value(index), count: batch.valueSize))
            try transaction.put(id, inline: sequence.view, value: value, owns: true, in: store.byID)
            try transaction.put(sequence.view, inline: id, value: value, owns: false, in: store.bySequence)
        }
        store.lastSequence.store(last, ordering: .relaxed)
        try transaction.commit()
    }

    private func removeOldSequence(_ id: ByteView, _ transaction: StoreTransaction) throws {
        let found: Void? = try transaction.withEntry(id, in: store.byID) { inline, _ in
            old.reset()
            old.append(inline)
        }
        guard found != nil else { throw BenchmarkError("a document that was stored is missing") }
        try transaction.deleteKnown(old.view, in: store.bySequence)
    }
}

/// A snapshot for each call.
final class RoostReader: ContenderReader {
    private let store: RoostStore

    init(store: RoostStore) { self.store = store }

    func takeSnapshot() throws { withExtendedLifetime(store.store.snapshot()) {} }

    func read(_ key: DocumentKey, into sink: inout Sink) throws {
        var id = key.id
        try unsafe withUnsafeBytes(of: &id) { bytes in
            let found: Void? = unsafe try store.store.snapshot()[store.byID].withValue(bytes) {
                unsafe sink.accept($0)
            }
            if found == nil { throw BenchmarkError.missing(key.id) }
        }
    }

    func scanByID(into sink: inout Sink) throws {
        let cursor = try store.store.snapshot()[store.byID].cursor()
        while try cursor.next() {
            let value = try cursor.valueView()
            unsafe sink.accept(id: cursor.keyView.buffer.baseAddress!, value.buffer.baseAddress!, value.count)
        }
        try cursor.checkMapping()
    }

    func scanBySequence(into sink: inout Sink) throws {
        let cursor = try store.store.snapshot()[store.bySequence].cursor()
        while try cursor.next() {
            let value = try cursor.valueView()
            unsafe sink.accept(id: cursor.inline.buffer.baseAddress!, value.buffer.baseAddress!, value.count)
        }
        try cursor.checkMapping()
    }

    func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
        let cursor = try store.store.snapshot()[store.byID].cursor()
        var id = key.id
        var found = try unsafe withUnsafeBytes(of: &id) { try cursor.seek(unsafe ByteView($0)) }
        var left = count
        while found {
            let value = try cursor.valueView()
            unsafe sink.accept(id: cursor.keyView.buffer.baseAddress!, value.buffer.baseAddress!, value.count)
            left -= 1
            if left == 0 { break }
            found = try cursor.next()
        }
        try cursor.checkMapping()
    }
}
