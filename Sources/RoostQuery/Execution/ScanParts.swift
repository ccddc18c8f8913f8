import Dispatch
import Roost
import Synchronization

extension Execution {
    /// So many rows of each part are kept to be sorted at most.
    private static let mostSorted = 10_000
    /// A thread that has done its part goes on with another one: not all are equally fast.
    private static let partsPerThread = 4

    /// How many threads read the documents of a query's first source: more than one where none has an index to go by, they are
    /// many, and what comes of parts of them can be put together.
    ///
    /// - Parameters:
    ///   - most: how many rows are sorted and kept at most; `nil` where they are not sorted.
    func threads(
        for plan: QueryPlan, _ sources: [SourcePlan], _ choice: AccessChoice, most: Int?
    ) throws(DatabaseError) -> Int {
        guard part == nil, visible == nil, options.threads > 1, frame.program.selectCount == 1,
            choice.chosen == nil, let first = sources.first,
            case .documents(let collection, let access) = first.origin, access.isScan,
            !first.isScanOrdered || !access.keys.isReversed,
            sources.dropFirst().allSatisfy({ if case .elements = $0.origin { true } else { false } })
        else { return 1 }
        if let grouping = plan.grouping {
            guard grouping.measures.allSatisfy(\.accumulator.isAdditive) else { return 1 }
        } else {
            guard let most, !plan.isDistinct, most <= Self.mostSorted else { return 1 }
        }
        return max(1, min(options.threads, try documents(of: collection).count / options.documentsPerPart))
    }

    /// What `read` makes of each part of the documents of a query's only collection, in the order of their IDs; `nil` when one of
    /// them exceeds its memory.
    func inParts<Row: Sendable>(
        of plan: QueryPlan, threads: Int,
        _ read: @escaping @Sendable (Execution) throws(DatabaseError) -> PartRows<Row>?
    ) throws(DatabaseError) -> [PartRows<Row>]? {
        guard case .documents(let collection, _)? = plan.sources.first?.origin else { return nil }
        let documents = try self.documents(of: collection).snapshot
        let count = min(threads * Self.partsPerThread, documents.count / options.documentsPerPart)
        let selections = try documents.parts(
            of: (documents.count + documents.deletedCount) / max(count, 1) + 1
        ).parts
        let (program, parameters, database) = (frame.program, parameters, database)
        let (snapshot, moment) = (snapshot, moment)
        var shared = options
        shared.memoryLimit = options.memoryLimit / selections.count
        let options = shared
        let parts = ScanParts(count: selections.count) { (number, isStopped) throws(DatabaseError) in
            let part = try Execution(
                Frame(program), parameters, database, snapshot, moment, options, part: selections[number],
                isCancelled: isStopped)
            let result: PartRows<Row>?
            do throws(DatabaseError) {
                result = try read(part)
            } catch {
                guard error.code == .limitExceeded else { throw error }
                result = nil
            }
            return PartResult(result: result, work: part.counter.work, memory: part.budget.used)
        }
        let results = try parts.results(threads: threads, isCancelled: counter.isCancelled)
        try counter.checkCancellation()
        guard results.allSatisfy({ $0.result != nil }) else { return nil }
        let memory = results.reduce(0) { $0 + $1.memory }
        guard budget.fitsEasily(memory) else { return nil }
        try budget.take(memory)
        for result in results { counter.add(result.work) }
        return results.compactMap(\.result)
    }
}

/// What was read of a part, and how many rows each operator had.
struct PartRows<Row: Sendable>: Sendable {
    let rows: [Row]
    let counts: [Int]

    /// `nil` where the rows exceed the part's memory.
    init?(_ rows: [Row]?, _ input: Operator) {
        guard let rows else { return nil }
        self.rows = rows
        counts = input.counts
    }
}

/// What came of a part, and what that took.
private struct PartResult<Row: Sendable>: Sendable {
    let result: PartRows<Row>?
    let work: WorkCounter.Work
    let memory: Int
}

// MARK: - Scan parts

/// Work on the parts of a scan that several threads do at once, the caller's among them.
///
/// Each takes one part after the other. Nobody waits for a thread that the system's pool hasn't got.
final class ScanParts<Result: Sendable>: Sendable {
    private let count: Int
    private let work:
        @Sendable (_ part: Int, _ isStopped: @escaping () -> Bool) throws(DatabaseError) -> Result
    private let state: Mutex<State>
    /// Threads of the pool that are at work on a part.
    private let atWork = DispatchGroup()
    /// How long it takes at most till they learn that the caller's task is cancelled.
    private static var interval: DispatchTimeInterval { .milliseconds(20) }

    private struct State {
        /// The first part that no thread has begun.
        var next = 0
        var results: [Result?]
        var failures: [DatabaseError] = []
    }

    init(
        count: Int,
        _ work:
            @escaping @Sendable (_ part: Int, _ isStopped: @escaping () -> Bool) throws(DatabaseError) ->
            Result
    ) {
        self.count = count
        self.work = work
        state = Mutex(State(results: Array(repeating: nil, count: count)))
    }

    /// What comes of each part, in order.
    ///
    /// - Parameter isCancelled: asked by the caller's thread, whether the caller no longer wants the results.
    /// - Throws: the first error that `work` throws. No further part is begun then, and those under way are asked to stop.
    func results(threads: Int, isCancelled: @escaping () -> Bool) throws(DatabaseError) -> [Result] {
        for _ in 1..<max(threads, 1) {
            DispatchQueue.global().async { [self] in takeParts { [self] in hasFailed } }
        }
        let isOver = { Task.isCancelled || isCancelled() }
        takeParts { [self] in hasFailed || isOver() }
        // The task is this thread's alone, so that the others learn from it that it is cancelled.
        while atWork.wait(timeout: .now() + Self.interval) == .timedOut {
            guard isOver(), !hasFailed else { continue }
            state.withLock { $0.failures.append(DatabaseError(.cancelled, "The query was cancelled.")) }
        }
        let (results, failures) = state.withLock { ($0.results, $0.failures) }
        // The first is why the others were stopped.
        if let failure = failures.first { throw failure }
        return results.compactMap(\.self)
    }

    private var hasFailed: Bool { state.withLock { !$0.failures.isEmpty } }

    private func takeParts(_ isStopped: @escaping () -> Bool) {
        while let part = take() {
            defer { atWork.leave() }
            do throws(DatabaseError) {
                let result = try work(part, isStopped)
                state.withLock { $0.results[part] = result }
            } catch {
                state.withLock { $0.failures.append(error) }
            }
        }
    }

    private func take() -> Int? {
        state.withLock { state in
            guard state.next < count, state.failures.isEmpty else { return nil }
            atWork.enter()
            defer { state.next += 1 }
            return state.next
        }
    }
}
