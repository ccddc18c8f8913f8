import RoostBLIP
import Synchronization

/// Bounds what a connection holds of what has arrived. Who wants more waits, and the server with it.
final class LinkMemory: BLIPMemory {
    private struct State {
        var held = 0
        var waiters: [(bytes: Int, promise: Promise<Void>)] = []

        mutating func take(_ bytes: Int) -> Bool {
            // What is larger than all of it goes alone.
            guard held == 0 || held + bytes <= LinkMemory.most else { return false }
            held += bytes
            return true
        }
    }

    private static let most = 128 << 20
    private let state = Mutex(State())

    func reserve(_ bytes: Int) async throws {
        let promise = state.withLock { state -> Promise<Void>? in
            if state.waiters.isEmpty, state.take(bytes) { return nil }
            let promise = Promise<Void>()
            state.waiters.append((bytes, promise))
            return promise
        }
        guard let promise else { return }
        do {
            try await promise.value()
        } catch {
            // Where the memory came at the same time, it goes back.
            let wasWaiting = state.withLock { state in
                let count = state.waiters.count
                state.waiters.removeAll { $0.promise === promise }
                return state.waiters.count < count
            }
            if !wasWaiting { release(bytes) }
            throw error
        }
    }

    func release(_ bytes: Int) {
        let ready = state.withLock { state in
            state.held -= bytes
            var ready: [Promise<Void>] = []
            while let next = state.waiters.first, state.take(next.bytes) {
                ready.append(next.promise)
                state.waiters.removeFirst()
            }
            return ready
        }
        for promise in ready { promise.keep() }
    }
}
