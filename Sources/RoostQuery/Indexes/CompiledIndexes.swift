import Roost
import Synchronization

/// The indexes of a database's collections, parsed and compiled once, until there are others.
final class CompiledIndexes: Sendable {
    private struct Known {
        let list: [UInt8]
        let indexes: [CompiledIndex]
    }

    private let known = Mutex<[ByteKey: Known]>([:])

    static func of(_ database: Database) -> CompiledIndexes { database.companion { CompiledIndexes() } }

    /// The indexes that the list of a collection, as it is kept, has.
    func indexes(
        of collection: DocumentCollection, by list: [UInt8]
    ) throws(DatabaseError) -> [CompiledIndex] {
        let name = ByteKey("\(collection.scopeName)\0\(collection.collectionName)")
        if let known = known.withLock({ $0[name] }), known.list == list { return known.indexes }
        // One that a newer Roost has made may have expressions that are not known here.
        let indexes = try IndexList<ValueIndex>(list).indexes.values.compactMap { try? CompiledIndex($0) }
        known.withLock { $0[name] = Known(list: list, indexes: indexes) }
        return indexes
    }
}
