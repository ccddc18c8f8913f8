import Roost
import RoostIndex
import RoostStorage

/// An index that was chosen, and what of it is read.
struct IndexChoice {
    let access: IndexAccess
    let reader: IndexReader
    let ranges: [KeyRange]
    /// How many rows these ranges have.
    let count: Int
}

extension Execution {
    /// What things cost, in millionths of a second: measured on one machine, and only their proportions matter.
    private enum Cost {
        static let scanned = 0.4
        static let lookedUp = 1.5
        static let sorted = 0.5
    }

    /// The index by which a source's rows are found fastest; `nil` when reading all documents is faster.
    ///
    /// How many rows of an index there are is known exactly, without reading them.
    ///
    /// - Parameters:
    ///   - isSorted: whether rows have to be sorted that do not come in the order asked for.
    ///   - wanted: how many rows are needed at most.
    ///   - isCount: whether only their number is.
    func choice(
        for source: SourcePlan, isSorted: Bool = false, wanted: Int = .max, isCount: Bool = false
    ) throws(DatabaseError) -> IndexChoice? {
        guard !source.indexes.isEmpty, case .documents(let collection, _) = source.origin else { return nil }
        let documents = try snapshot[collection]
        let total = Double(documents.count)
        var best: IndexChoice?
        var lowest = total * (Cost.scanned + (isSorted ? Cost.sorted : 0))
        for access in source.indexes {
            guard let ranges = access.ranges(frame) else { continue }
            let reader = try reader(access.index, collection, documents)
            let count = try count(ranges, reader)
            if isCount, access.isExact {
                return IndexChoice(access: access, reader: reader, ranges: ranges, count: count)
            }
            var rows = Double(count)
            // Rows that come in order are read until there are enough; conditions that the index does not answer may
            // leave out many.
            if access.isOrdered, wanted < count {
                rows = access.isExact ? Double(wanted) : max(Double(wanted), rows / 4)
            }
            var cost = rows * Cost.lookedUp
            if isSorted, !access.isOrdered { cost += rows * Cost.sorted }
            guard cost < lowest else { continue }
            lowest = cost
            best = IndexChoice(access: access, reader: reader, ranges: ranges, count: count)
        }
        return best
    }

    private func count(_ ranges: [KeyRange], _ reader: IndexReader) throws(DatabaseError) -> Int {
        do throws(StoreError) {
            var count: UInt64 = 0
            for range in ranges { count += try reader.count(in: range) }
            return Int(clamping: count)
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    /// An index as of the moment of the execution.
    private func reader(
        _ index: CompiledIndex, _ collection: DocumentCollection, _ documents: CollectionSnapshot
    ) throws(DatabaseError) -> IndexReader {
        let name = "\(collection)/\(index.description.name)"
        if let known = readers[name] { return known }
        do {
            let reader = try collection.indexes.read(index.definition, of: collection, at: documents) { $0 }
            readers[name] = reader
            return reader
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}
