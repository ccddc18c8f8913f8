import RoostBlobs
import RoostBytes
import RoostStorage

/// Compares all that a snapshot says of documents.
struct DocumentCheck {
    private let core: DatabaseCore
    private let snapshot: Snapshot
    /// `nil` where bodies and blobs are not to be read.
    private let blobs: BlobInventory?
    private let meter: CheckMeter
    private(set) var findings: DocumentFindings
    /// Documents that were looked at.
    private(set) var documents: UInt64 = 0

    init(_ core: DatabaseCore, _ snapshot: Snapshot, _ blobs: BlobInventory?, _ meter: CheckMeter, limit: Int)
    {
        self.core = core
        self.snapshot = snapshot
        self.blobs = blobs
        self.meter = meter
        findings = DocumentFindings(limit: limit)
    }

    /// - Throws: `cancelled`.
    mutating func run() throws(DatabaseError) {
        var names: [CollectionName] = []
        do throws(DatabaseError) {
            names = try core.collectionNames(in: snapshot)
        } catch {
            findings.add("its list of collections can't be read")
        }
        for name in names {
            do throws(DatabaseError) {
                guard let trees = try core.trees(of: name, in: snapshot),
                    let record = try core.record(of: name, in: snapshot)
                else { continue }
                try check(name, trees, record)
            } catch {
                guard error.code != .cancelled else { throw error }
                findings.add("it can't be read as a whole", name)
            }
        }
    }

    private mutating func check(
        _ name: CollectionName, _ trees: CollectionTrees, _ record: CollectionRecord
    ) throws(DatabaseError) {
        let reader = CollectionReader(source: snapshot, trees: trees)
        var collection = CollectionCheck(name, reader, blobs, findings)
        let total = try reader.documents.count
        let changes = try reader.changes.count
        let before = findings.count
        do throws(DatabaseError) {
            let cursor = try reader.documents.cursor()
            while try translating({ () throws(StoreError) in try cursor.next() }) {
                try meter.note(documents, of: total)
                documents += 1
                collection.check(cursor)
            }
        } catch {
            guard error.code != .cancelled else { throw error }
            collection.findings.add("a part of its list of documents can't be read", name)
        }
        // Each document has a change of its own, so there are others only if there are more of them.
        if collection.findings.count > before || changes != total {
            collection.checkChanges()
        } else {
            collection.check(record)
        }
        findings = collection.findings
    }
}

extension DatabaseCore {
    /// The record of a collection; `nil` when there is no such collection.
    func record(
        of name: CollectionName, in snapshot: Snapshot
    ) throws(DatabaseError) -> CollectionRecord? {
        let bytes = try translating { () throws(StoreError) in try snapshot[catalog, Catalog.collection(name)]
        }
        guard let bytes else { return nil }
        return try CollectionRecord(bytes)
    }
}
