import Roost
import RoostBytes
import RoostIndex
import Synchronization

/// What queries of one moment have in common: the collections as they were then, what indexes they had, and readers of these, each
/// looked up once.
///
/// That of the present is kept until something is committed; see `Database.present(_:)`. Can be used from any thread.
final class SnapshotReaders: Sendable {
    private struct Known {
        /// Few, so that looking through them is quickest.
        var collections: [Documents] = []
        var readers: [Reader] = []
        /// The indexes that can't be read within the memory.
        var unreadable: [CompiledIndex] = []
        var mangoIndexes: [(snapshot: CollectionSnapshot, indexes: [MangoIndex])] = []
    }

    private struct Reader {
        let index: CompiledIndex
        let reader: IndexReader
        /// How often indexes had been updated before. Once they are again, a reader that looks at changes besides is better made
        /// again.
        let updateCount: Int
    }

    /// A collection of the moment.
    final class Documents: Sendable {
        let snapshot: CollectionSnapshot
        /// Looks its documents up.
        let bodies: BodyLookup
        /// The lists of its indexes as they are kept.
        let lists: IndexLists

        /// How many documents it has.
        var count: Int { snapshot.count }

        init(_ snapshot: CollectionSnapshot) throws(DatabaseError) {
            self.snapshot = snapshot
            bodies = try snapshot.bodies
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

    /// An index of a collection of the moment; `nil` where it can't be stored, and exceeds the memory.
    func reader(
        of index: CompiledIndex, _ collection: DocumentCollection, _ documents: CollectionSnapshot
    ) throws(DatabaseError) -> IndexReader? {
        let (known, isUnreadable) = known.withLock { known in
            (
                known.readers.first { $0.index === index },
                known.unreadable.contains { $0 === index }
            )
        }
        if isUnreadable { return nil }
        if let known, known.reader.isKept { return known.reader }
        let indexes = collection.indexes(at: documents)
        let updateCount = indexes.updateCount
        if let known, known.updateCount == updateCount { return known.reader }
        do {
            let reader = try indexes.read(index.definition, of: collection, at: documents) { $0 }
            self.known.withLock {
                $0.readers.removeAll { $0.index === index }
                $0.readers.append(Reader(index: index, reader: reader, updateCount: updateCount))
            }
            return reader
        } catch {
            let failure = DatabaseError(derived: error)
            guard failure.underlyingError is OverlayLimit else { throw failure }
            self.known.withLock { $0.unreadable.append(index) }
            return nil
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

    /// Has the indexes looked up again: what was read of one may not be what it holds.
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
