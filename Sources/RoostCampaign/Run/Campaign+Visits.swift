import RoostSimulation
import RoostStorage

/// What other threads and processes do while a call to the store is under way. The disk calls ``visit()`` between the call's own
/// calls, at each of them, and the seed decides what comes of it.
extension Campaign {
    /// Who may come while a call is under way.
    enum Visitors {
        case nobody
        /// The power failures that might come, each on a disk of its own.
        case powerFailures
        /// Who reads, here or in another process, too.
        case readers
        /// Who begins the next transaction, too, as soon as the present one lets it, and completes it in memory.
        case stagers
        /// Who commits, too.
        case writers
    }

    /// A transaction that was begun while another one was on its way to the medium.
    struct Guest {
        let transaction: StoreTransaction
        /// What it makes of the store.
        let model: StoreModel
        /// Whether it leaves the store as it is.
        let isIdle: Bool
        /// The attempts that it builds on and that it is; the latter is `nil` while it is open.
        let base: Int
        var attempt: Int?
        /// Puts it on the medium, where it is complete in memory.
        var finish: (() throws(StoreError) -> Void)?
    }

    /// The most that is done beside one call.
    private static let mostVisits = 8

    /// Does `body`, a call to the store, with what may come between its own calls. ``endVisits()`` tells what became of that.
    func admitting<R>(_ visitors: Visitors, _ body: () throws -> R) throws -> R {
        (self.visitors, visitCount, visitFailure) = (visitors, 0, nil)
        defer { self.visitors = .nobody }
        let result = Result { try body() }
        if let finding = visitFailure as? CampaignFinding { throw finding }
        return try result.get()
    }

    /// Throws what went wrong beside the last call, once.
    func endVisits() throws {
        defer { visitFailure = nil }
        if let visitFailure { throw visitFailure }
    }

    /// Comes before and after a call that changes the disk.
    func visit(at kind: CallKind) {
        guard visitors != .nobody, visitFailure == nil, visitCount < Self.mostVisits,
            !simulation.disk.hasCrashed, beside.chance(0.2)
        else { return }
        visitCount += 1
        do {
            try doSomethingBeside(kind)
        } catch {
            visitFailure = error
        }
    }

    private func doSomethingBeside(_ kind: CallKind) throws {
        if visitors == .powerFailures { return try examineOutcome() }
        switch beside.next(below: 10) {
        case 0: try compareAll(try openStore().snapshot(), states.current, "a reader beside")
        case 1: try openReader()
        case 2: if snapshots.count < 5 { try keepSnapshot() }
        case 3, 4, 5: try examineOutcome()
        default:
            switch visitors {
            case .nobody, .powerFailures, .readers: try examineOutcome()
            // Who makes a large transaction would wait for the write (`DataFile.writtenAhead`).
            case .stagers where kind == .write, .writers where kind == .write: try examineOutcome()
            case .stagers: try goOnWithGuests()
            case .writers: try commitBeside()
            }
        }
    }

    /// Makes a commit of its own, unless somebody else has the turn.
    private func commitBeside() throws {
        // Who follows a commit that is on its way would wait for it.
        guard try !openStore().isCommitting, let transaction = try openStore().beginWritingIfFree() else {
            return
        }
        say("    a commit beside")
        var model = states.current
        do {
            try workload.change(transaction, &model)
            let attempt = states.attempt(model)
            try transaction.commit()
            acknowledge(attempt)
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Begins the next transaction on whatever is the newest commit now, on its way to the medium or not, or ends the one that
    /// is open.
    func goOnWithGuests() throws {
        if let last = guests.last, last.attempt == nil, beside.chance(0.5) {
            return beside.chance(0.3) ? giveUp() : try stageGuest()
        }
        guard let transaction = try openStore().beginWritingIfFree() else { return }
        let base = try baseOfGuest(transaction)
        var model = base.model
        do {
            try workload.change(transaction, &model)
        } catch {
            transaction.rollback()
            throw error
        }
        say("    a transaction beside")
        guests.append(
            Guest(transaction: transaction, model: model, isIdle: model == base.model, base: base.attempt))
        if beside.chance(0.6) { try stageGuest() }
    }

    private func giveUp() {
        guests.removeLast().transaction.rollback()
    }

    private func stageGuest() throws {
        var guest = guests.removeLast()
        guard let finish = try guest.transaction.stage() else { return }
        guest.finish = finish
        guest.attempt = states.attempt(guest.model)
        guests.append(guest)
        say("    complete in memory")
    }

    /// What the transaction builds on: the newest of the commits on their way that has its number, or what is acknowledged.
    private func baseOfGuest(_ transaction: StoreTransaction) throws -> (model: StoreModel, attempt: Int) {
        let number = transaction.baseNumber
        let known = try openStore().snapshot().commit.number
        if number == known { return (states.current, states.currentAttempt) }
        let underWay = staged.map { [$0] } ?? []
        let chain =
            underWay
            + guests.compactMap { guest in
                guest.attempt.map { (guest.transaction.baseNumber + 1, guest.model, $0) }
            }
        guard let base = chain.last(where: { $0.number == number }) else {
            throw finding("a transaction builds on commit \(number), which nobody makes after \(known)")
        }
        return (base.model, base.attempt)
    }

    /// Gives the transactions up that were begun beside a commit. Nobody may wait for ever for one that was to lead.
    func abandonGuests() {
        for guest in guests {
            if let finish = guest.finish { try? finish() } else { guest.transaction.rollback() }
        }
        guests = []
    }

    /// Ends the transactions that were begun beside a commit, in their order. Those that build on one that failed must be
    /// refused.
    ///
    /// - Parameter failed: the attempts that failed already.
    func endGuests(_ failed: Set<Int>) throws {
        var failed = failed
        var failure: (any Error)?
        while let guest = guests.first {
            if guest.finish == nil, guest.isIdle || beside.chance(0.3) {
                guest.transaction.rollback()
                guests.removeFirst()
                continue
            }
            let attempt = guest.attempt ?? states.attempt(guest.model)
            // While it is on its way others may begin on it.
            (guests[0].attempt, guests[0].finish) = (attempt, nil)
            do {
                if let finish = guest.finish { try finish() } else { try guest.transaction.commit() }
            } catch {
                failed.insert(attempt)
                failure = failure ?? error
                guests.removeFirst()
                continue
            }
            guests.removeFirst()
            guard !failed.contains(guest.base) else {
                throw finding("a commit was acknowledged that builds on one that failed")
            }
            acknowledge(attempt)
        }
        if let failure { throw failure }
    }
}
