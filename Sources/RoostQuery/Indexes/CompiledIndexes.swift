import Roost
import Synchronization

/// The indexes of a database's collections, read from their lists once, until there are others.
final class CompiledIndexes: Sendable {
    private let values = KnownLists<[CompiledIndex]>()
    private let texts = KnownLists<IndexList<TextIndex>>()

    static func of(_ database: Database) -> CompiledIndexes { database.companion { CompiledIndexes() } }

    /// The indexes that the list of a collection, as it is kept, has.
    func indexes(
        of collection: DocumentCollection, by list: [UInt8]
    ) throws(DatabaseError) -> [CompiledIndex] {
        try values.read(list, of: collection) { (list) throws(DatabaseError) in
            // One that a newer Roost has made may have expressions that are not known here.
            try IndexList<ValueIndex>(list).indexes.values.compactMap { try? CompiledIndex($0) }
        }
    }

    /// The full-text indexes that the list of a collection, as it is kept, has.
    func textIndexes(
        of collection: DocumentCollection, by list: [UInt8]
    ) throws(DatabaseError) -> IndexList<TextIndex> {
        try texts.read(list, of: collection) { (list) throws(DatabaseError) in try IndexList(list) }
    }
}

/// What was read from the list of each collection last.
private final class KnownLists<Value: Sendable>: Sendable {
    private struct Known {
        let list: [UInt8]
        let value: Value
    }

    private let known = Mutex<[ByteKey: Known]>([:])

    func read(
        _ list: [UInt8], of collection: DocumentCollection,
        _ body: ([UInt8]) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let name = ByteKey("\(collection.scopeName)\0\(collection.collectionName)")
        if let known = known.withLock({ $0[name] }), known.list == list { return known.value }
        let value = try body(list)
        known.withLock { $0[name] = Known(list: list, value: value) }
        return value
    }
}
