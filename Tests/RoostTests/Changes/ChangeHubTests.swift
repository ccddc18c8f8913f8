import Dispatch
import Synchronization
import Testing

@testable import Roost

/// A hub whose changes can't always be read.
@Suite struct ChangeHubTests {
    private let revision: RevisionID
    private let queue = DispatchQueue(label: "roost.test.hub")

    init() throws { revision = try RevisionID(validating: "1-a") }

    private func change(_ sequence: UInt64) -> DocumentChange {
        DocumentChange(id: "doc", sequence: sequence, revision: revision, flags: [])
    }

    /// Waits until the hub has told all that it knew of.
    private func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    @Test func whatCannotBeReadIsReportedAndReadAgain() async {
        let isBroken = Mutex(true)
        let change = change(1)
        let hub = ChangeHub(queue: queue, retryDelay: .never) { (since, _) throws(DatabaseError) in
            guard !isBroken.withLock({ $0 }) else { throw DatabaseError(.inputOutput, "broken") }
            return since < 1 ? [change] : []
        }
        let heard = Mutex<[UInt64]>([])
        let failures = Mutex<[DatabaseError.Code]>([])
        let key = hub.listen(
            since: 0, to: nil, failing: { error in failures.withLock { $0.append(error.code) } }
        ) { changes in heard.withLock { $0 += changes.map(\.sequence) } }
        await settle()
        #expect(failures.withLock { $0 } == [.inputOutput] && heard.withLock { $0 }.isEmpty)
        isBroken.withLock { $0 = false }
        hub.noteCommit()
        await settle()
        #expect(heard.withLock { $0 } == [1] && failures.withLock { $0.count } == 1)
        hub.remove(key)
    }

    /// Without a commit, too: nothing else would wake the hub.
    @Test func itReadsAgainByItself() async {
        let attempts = Mutex(0)
        let change = change(1)
        let hub = ChangeHub(queue: queue, retryDelay: .milliseconds(1)) { (since, _) throws(DatabaseError) in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt > 2 else { throw DatabaseError(.inputOutput, "broken") }
            return since < 1 ? [change] : []
        }
        let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self)
        let key = hub.listen(since: 0, to: nil, failing: { _ in }) { changes in
            for change in changes { continuation.yield(change.sequence) }
        }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        hub.remove(key)
    }

    @Test func aDroppedCollectionIsReportedOnce() async {
        let hub = ChangeHub(queue: queue) { (_, _) throws(DatabaseError) in
            throw DatabaseError.missing(.default)
        }
        let failures = Mutex<[DatabaseError.Code]>([])
        _ = hub.listen(
            since: 0, to: nil, failing: { error in failures.withLock { $0.append(error.code) } }
        ) { _ in }
        await settle()
        hub.noteCommit()
        await settle()
        #expect(failures.withLock { $0 } == [.notFound])
    }
}
