import Foundation
import Synchronization

/// Parses the documents of an import on a thread of its own, some ahead of whoever stores them.
final class ParseAhead: Sendable {
    /// Documents that come one after the other.
    struct Batch: Sendable {
        var documents: [ParsedDocument] = []
        /// How many bytes of the file were read.
        var position: UInt64 = 0
        /// Set in the last one: that the file ended, or why it can't be read on.
        var end: Result<Void, any Error>?
    }

    /// So many bytes of text make a batch, or one document that has more.
    private static let batchSize = 1 << 18
    private static let batchesAhead = 8

    private let parser: Mutex<ImportParser>
    private let batches = Mutex<[Batch]>([])
    private let parsed = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)
    private let isStopped = Atomic<Bool>(false)

    init(_ parser: sending ImportParser) {
        self.parser = Mutex(parser)
        for _ in 0..<Self.batchesAhead { room.signal() }
        Thread.detachNewThread { [self] in run() }
    }

    /// The next batch; waits for it. Not to be asked for after the last.
    func next() -> Batch {
        parsed.wait()
        defer { room.signal() }
        return batches.withLock { $0.removeFirst() }
    }

    /// Ends parsing: nobody wants what follows.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        room.signal()
    }

    private func run() {
        var isAtEnd = false
        while !isAtEnd {
            room.wait()
            guard !isStopped.load(ordering: .relaxed) else { return }
            let batch = parser.withLock { Self.batch(of: &$0) }
            isAtEnd = batch.end != nil
            batches.withLock { $0.append(batch) }
            parsed.signal()
        }
    }

    private static func batch(of parser: inout ImportParser) -> Batch {
        var batch = Batch()
        var length = 0
        do {
            while length < batchSize {
                guard let document = try parser.next() else {
                    batch.end = .success(())
                    break
                }
                batch.documents.append(document)
                length += document.length
            }
        } catch {
            batch.end = .failure(error)
        }
        batch.position = parser.position
        return batch
    }
}
