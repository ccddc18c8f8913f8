/// How an index stands.
package struct IndexStatus: Sendable, Hashable {
    /// Its kind, a slash and its own name.
    package let name: String
    /// All that its rows depend on besides the documents, such as the version of a view.
    package let signature: String
    /// Whether it was built; a build that was cut off goes on when it is read.
    package let isComplete: Bool
    /// How many rows it has; 0 while it is built.
    package let rows: UInt64
    /// About how many bytes its trees take in the file; what stands in the log alone does not count yet.
    package let bytes: UInt64
    /// The collection's history that its rows belong to.
    package let epoch: UInt64
    /// The update sequence of the collection up to which it was kept.
    package let sequence: UInt64
    /// The purge sequence up to which it was kept.
    package let purge: UInt64

    init(name: String, _ record: IndexRecord, rows: UInt64, bytes: UInt64) {
        self.name = name
        signature = String(decoding: record.signature, as: UTF8.self)
        isComplete = record.phase == .complete
        self.rows = rows
        self.bytes = bytes
        epoch = record.epoch
        sequence = record.sequence
        purge = record.purge
    }
}
