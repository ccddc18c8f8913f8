import Roost
import RoostBytes
import RoostIndex
import Synchronization

/// What queries of one moment have in common: the collections as they were then, what indexes they had, and readers of these, each
/// looked up once.
///
/// That of the present is kept until something is committed; see `Database.present(_:)`. Can be used from any thread.
final class QueryMoment: Sendable {
    private struct Known {
        /// Few, so that looking through them is quickest.
        var collections: [Documents] = []
        var readers: [(index: CompiledIndex, reader: IndexReader)] = []
        var mangoIndexes: [(snapshot: CollectionSnapshot, indexes: [MangoIndex])] = []
    }

    /// A collection of the moment.
    final class Documents: Sendable {
        let snapshot: CollectionSnapshot
        /// The lists of its indexes as they are kept.
        let lists: IndexLists

        init(_ snapshot: CollectionSnapshot) throws(DatabaseError) {
            self.snapshot = snapshot
            lists = try IndexLists(of: snapshot)
        }
    }

    private let known = Mutex(Known())

    /// A collection as of the moment, which is that of `snapshot`.
    ///
    /// - Throws: `notFound` when there was no such collection then.
    func documents(
        of collection: DocumentCollection, in snapshot: DatabaseSnapshot
    ) throws(DatabaseError) -> Documents {
        let known = known.withLock { $0.collections.first { $0.snapshot.isOf(collection) } }
        if let known, snapshot.isOf(collection.database) { return known }
        let documents = try Documents(snapshot[collection])
        self.known.withLock { $0.collections.append(documents) }
        return documents
    }

    /// An index of a collection of the moment.
    func reader(
        of index: CompiledIndex, _ collection: DocumentCollection, _ documents: CollectionSnapshot
    ) throws(DatabaseError) -> IndexReader {
        if let known = known.withLock({ $0.readers.first { $0.index === index } }) { return known.reader }
        do {
            let reader = try collection.indexes(at: documents).read(
                index.definition, of: collection, at: documents
            ) { $0 }
            // One that looks at changes besides is soon in the place of another that need not.
            if reader.isKept { known.withLock { $0.readers.append((index, reader)) } }
            return reader
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    /// The Mango indexes of a collection of the moment.
    func mangoIndexes(
        of collection: DocumentCollection, in snapshot: DatabaseSnapshot
    ) throws(DatabaseError) -> [MangoIndex] {
        let documents = try documents(of: collection, in: snapshot).snapshot
        let known = known.withLock { $0.mangoIndexes.first { $0.snapshot.isOf(collection) } }
        if let known { return known.indexes }
        let indexes = try MangoIndex.all(in: documents)
        self.known.withLock { $0.mangoIndexes.append((documents, indexes)) }
        return indexes
    }

    /// Has the indexes looked up anew: what was read of one may not be what it holds.
    func forgetReaders() { known.withLock { $0.readers = [] } }
}

/// The indexes of a collection as they are written down with it, by which queries are planned.
struct IndexLists: Sendable, Equatable {
    let values: [UInt8]
    let texts: [UInt8]

    init(of collection: CollectionSnapshot) throws(DatabaseError) {
        values = try collection.metadata(ValueIndex.metadataName) ?? []
        texts = try collection.metadata(TextIndex.metadataName) ?? []
    }

    // Compared for each query that is asked, and by far quicker than arrays byte by byte.
    static func == (left: Self, right: Self) -> Bool {
        isSame(left.values, right.values) && isSame(left.texts, right.texts)
    }

    private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withView { left in right.withView { left.compare($0) == 0 } }
    }
}
