import Foundation
import Synchronization

/// Runs `work` on `count` threads at once and returns their results in the order of the threads.
///
/// `prepare` runs on the thread first (opening a connection, say); `work` starts on all threads together once
/// every `prepare` has returned. Throws the first error.
func onThreads<Prepared, Result: Sendable>(
    _ count: Int,
    prepare: @escaping @Sendable (Int) throws -> Prepared,
    work: @escaping @Sendable (Int, Prepared) throws -> Result
) throws -> [Result] {
    let ready = DispatchSemaphore(value: 0)
    let go = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    let results = ThreadResults<Result>()
    for index in 0..<count {
        /// What was prepared is released when this returns, before anyone is told that the thread is done.
        @Sendable func perform() -> Swift.Result<Result, any Error> {
            let prepared = Swift.Result { try prepare(index) }
            ready.signal()
            go.wait()
            return Swift.Result { try work(index, prepared.get()) }
        }
        Thread {
            results.append(index, perform())
            done.signal()
        }.start()
    }
    for _ in 0..<count { ready.wait() }
    for _ in 0..<count { go.signal() }
    for _ in 0..<count { done.wait() }
    return try results.inOrder()
}

/// Where threads leave their results.
private final class ThreadResults<Value: Sendable>: Sendable {
    private let results = Mutex<[(index: Int, result: Result<Value, any Error>)]>([])

    func append(_ index: Int, _ result: Result<Value, any Error>) {
        results.withLock { $0.append((index, result)) }
    }

    func inOrder() throws -> [Value] {
        try results.withLock { try $0.sorted { $0.index < $1.index }.map { try $0.result.get() } }
    }
}
