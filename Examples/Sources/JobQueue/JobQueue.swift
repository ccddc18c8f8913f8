import RoostStorage

/// A job that a worker has taken.
struct Job: Hashable, Sendable {
    let number: UInt64
    let payload: String
}

/// Jobs that survive crashes: each is done at least once, in the order of arrival.
///
/// A worker takes a job for some time. If it has not finished by then (it crashed, or hangs), another may take it. Every
/// step is one transaction, so that a job is always in exactly one of the trees. Any thread may use it.
struct JobQueue: Sendable {
    private let store: Store
    /// Number of the job → payload.
    private let waiting: Tree
    /// Deadline, then number of the job → payload: the first ones are overdue first.
    private let taken: Tree
    /// One entry: the number of the next job.
    private let counter: Tree

    init(_ path: String) throws {
        store = try Store.open(path)
        waiting = try store.tree("waiting")
        taken = try store.tree("taken")
        counter = try store.tree("counter")
    }

    /// Adds a job; when this returns, it is on the medium.
    @discardableResult
    func add(_ payload: String) throws -> UInt64 {
        try store.write { transaction in
            let number = try transaction[counter, "next"].flatMap { Key($0).number } ?? 1
            try transaction.put("next", Key(number + 1).bytes, in: counter)
            try transaction.put(Key(number), Array(payload.utf8), in: waiting)
            return number
        }
    }

    /// Takes the oldest waiting job until `deadline`, and before that brings back what is overdue at `now`. Times are
    /// in any unit that only grows.
    func take(now: UInt64, until deadline: UInt64) throws -> Job? {
        try store.write { transaction in
            while let (key, payload) = try transaction[taken].first(), try part(0, of: key) <= now {
                try transaction.delete(key, in: taken)
                try transaction.put(Key(try part(1, of: key)), payload, in: waiting)
            }
            guard let (key, payload) = try transaction[waiting].first(), let number = key.number else {
                return nil
            }
            try transaction.delete(key, in: waiting)
            try transaction.put(Key(Key(deadline).bytes + key.bytes), payload, in: taken)
            return Job(number: number, payload: String(decoding: payload, as: UTF8.self))
        }
    }

    /// Forgets a job that is done; returns whether it was still this worker's.
    @discardableResult
    func finish(_ job: Job, takenUntil deadline: UInt64) throws -> Bool {
        try store.write { transaction in
            let key = Key(Key(deadline).bytes + Key(job.number).bytes)
            let isOurs = try transaction[taken, key] != nil
            try transaction.delete(key, in: taken)
            return isOurs
        }
    }

    /// How many jobs wait and how many are taken, at one moment.
    func counts() throws -> (waiting: UInt64, taken: UInt64) {
        try store.read { (try $0[waiting].count, try $0[taken].count) }
    }

    func close() throws { try store.close() }

    /// One of the two numbers that a key of `taken` holds.
    private func part(_ index: Int, of key: Key) throws -> UInt64 {
        guard let number = Key(Array(key.bytes.dropFirst(8 * index).prefix(8))).number else {
            throw NotAQueue()
        }
        return number
    }
}

/// The file is a store, but not of a queue.
struct NotAQueue: Error {}
