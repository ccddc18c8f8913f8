/// What happens between the calls that one thread makes on a simulated disk, where several threads would do it on a real one:
/// work that may be done beside other work, and a visitor's doings. When each is done follows from a seed.
///
/// One thing at a time is done, from its beginning to its end, within the call that it comes between. So two pieces of work
/// come one after the other, or one of them whole at some call of the other.
///
/// For one thread, which is the only one that uses the disk.
final class Interludes {
    private var generator: SeededGenerator
    private let visit: (CallKind) -> Void
    /// What was offered, and nobody has begun.
    private var offered: [@Sendable () -> Void] = []
    /// What is to be done amid work that is under way, the innermost last.
    private var awaited: [Awaited] = []
    /// How many visits and pieces of offered work the present call is within.
    private var depth = 0

    private struct Awaited {
        /// `nil` once it is done.
        var body: (() -> Void)?
        /// After so many more calls.
        var delay: Int
        /// As it was when the work around it began: nothing is done that is further out.
        let depth: Int
    }

    /// - Parameter visit: called at changes of the disk, with their kind, but not within itself or within work that was offered.
    init(_ generator: SeededGenerator, visit: @escaping (CallKind) -> Void) {
        self.generator = generator
        self.visit = visit
    }

    func offer(_ work: @escaping @Sendable () -> Void) { offered.append(work) }

    /// Does both, in an order that the seed decides.
    func perform<Failure: Error>(
        _ work: () throws(Failure) -> Void, beside other: () -> Void
    ) throws(Failure) {
        var outcome = Result<Void, Failure>.success(())
        func doWork() {
            do throws(Failure) { try work() } catch { outcome = .failure(error) }
        }
        switch generator.next(below: 5) {
        case 0:
            other()
            doWork()
        case 1:
            doWork()
            other()
        case 2: perform(doWork, amid: other)
        default: perform(other, amid: doWork)
        }
        try outcome.get()
    }

    /// Does `outer`, and `inner` at one of its calls, or afterwards where it makes too few.
    private func perform(_ inner: () -> Void, amid outer: () -> Void) {
        withoutActuallyEscaping(inner) { inner in
            awaited.append(Awaited(body: inner, delay: generator.next(below: 5), depth: depth))
            outer()
            awaited.removeLast().body?()
        }
    }

    /// A call is about to be made, or was made: the moment for something else.
    func pause(_ kind: CallKind) {
        if let last = awaited.last, let body = last.body, last.depth == depth {
            awaited[awaited.count - 1].delay -= 1
            if last.delay == 0 {
                awaited[awaited.count - 1].body = nil
                body()
            }
        }
        if !offered.isEmpty, generator.chance(0.3) { within(offered.removeFirst()) }
        if depth == 0, kind.isChange { within { visit(kind) } }
    }

    private func within(_ body: () -> Void) {
        depth += 1
        defer { depth -= 1 }
        body()
    }
}
