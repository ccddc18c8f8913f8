/// How an index stands.
package struct IndexStatus: Sendable, Hashable {
    /// Its kind, a slash and its own name.
    package let name: String
    /// All that its rows depend on besides the documents, such as the version of a view.
    package var signature: String { String(decoding: record.signature, as: UTF8.self) }
    /// Whether it was built; a build that was cut off goes on when it is read.
    package var isComplete: Bool { record.phase == .complete }
    /// How many rows it has; 0 while it is built.
    package let rows: UInt64
    /// About how many bytes its trees take in the file; what stands in the log alone does not count yet.
    package let bytes: UInt64
    /// The collection's history that its rows belong to.
    package var epoch: UInt64 { record.epoch }
    /// The update sequence of the collection up to which it was kept.
    package var sequence: UInt64 { record.sequence }
    /// The purge sequence up to which it was kept.
    package var purge: UInt64 { record.purge }
    let record: IndexRecord

    init(name: String, _ record: IndexRecord, rows: UInt64, bytes: UInt64) {
        self.name = name
        self.rows = rows
        self.bytes = bytes
        self.record = record
    }
}
