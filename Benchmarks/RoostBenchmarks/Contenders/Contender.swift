/// A store in the race, opened. Each peer implements it, in the way its own documentation recommends.
///
/// What is stored: documents that can be found by ID and by sequence. Every document written takes the next
/// sequence, and an update removes the entry of the document's old sequence in the same transaction. How the
/// two lookups are laid out is the contender's own choice.
protocol Contender: AnyObject, Sendable {
    /// A writer for the calling thread. Writers of several threads may commit at the same time.
    func makeWriter() throws -> any ContenderWriter
    /// A reader for the calling thread. Readers of several threads may read at the same time.
    func makeReader() throws -> any ContenderReader
    /// Does the work that has been deferred (flushing, checkpointing, merging), so that what follows is not
    /// disturbed by it. Never timed, but the bytes it writes are counted.
    func settle() throws
    /// Gives back the space of what is no longer live, makes that durable, and closes.
    func compactAndClose() throws
    /// Closes; every writer and reader has been released.
    func close() throws
}

/// A store that gives space back while others go on writing.
protocol CompactingContender: Contender {
    /// Gives back the space of what is no longer live and makes that durable.
    func compact() throws
}

extension CompactingContender {
    func compactAndClose() throws {
        try compact()
        try close()
    }
}

/// Writes on one thread.
protocol ContenderWriter: AnyObject {
    /// Stores the batch in one transaction that is durable on return, unless the contender's title says
    /// otherwise. All documents of a batch are new, or all are stored already, as `kind` says; a batch never
    /// holds a document twice.
    func commit(_ batch: Batch, _ kind: CommitKind) throws
}

/// What the program that writes knows of a batch.
enum CommitKind {
    /// New documents whose IDs ascend and are greater than any stored.
    case append
    /// New documents.
    case insert
    /// Documents that are stored already.
    case update
}

/// Reads on one thread. Every call sees the newest commit.
protocol ContenderReader: AnyObject {
    /// Takes a view of the newest commit and lets it go.
    func takeSnapshot() throws
    /// Delivers the value of one document by ID.
    func read(_ key: DocumentKey, into sink: inout Sink) throws
    /// Delivers every document, ID and value, in the order of IDs.
    func scanByID(into sink: inout Sink) throws
    /// Delivers every document, ID and value, in the order of sequences.
    func scanBySequence(into sink: inout Sink) throws
    /// Delivers `count` documents, ID and value, from `key` on in the order of IDs; fewer at the end.
    func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws
}

/// What stops a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    static func missing(_ id: DocumentID) -> BenchmarkError {
        BenchmarkError("a document that was stored is missing")
    }
}
