import RoostSimulation
import RoostStorage

/// What a program does with a store on good days.
extension Campaign {
    func open() throws {
        let options = settings.options(&generator)
        store = try admitting(.powerFailures) {
            try Store.open(Self.path, options: options, environment: simulation.environment)
        }
        isRelaxed = options.durability != .full
    }

    /// A commit, whole or in two steps, and what is begun beside it.
    func commit() throws {
        let transaction = try openStore().beginWriting()
        var model = states.current
        let attempt: Int
        do {
            try admitting(.readers) { try workload.change(transaction, &model) }
            try endVisits()
            attempt = states.attempt(model)
            staged = (transaction.baseNumber + 1, model, attempt)
        } catch {
            transaction.rollback()
            throw error
        }
        defer { staged = nil }
        do {
            try admitting(.stagers) {
                if later.chance(0.15) { try commitInTwoSteps(transaction) } else { try transaction.commit() }
            }
            acknowledge(attempt)
        } catch let finding as CampaignFinding {
            throw finding
        } catch {
            transaction.rollback()
            do {
                try admitting(.stagers) { try endGuests([attempt]) }
            } catch let finding as CampaignFinding {
                throw finding
            } catch {}
            visitFailure = nil
            throw error
        }
        let failure = visitFailure
        try admitting(.stagers) { try endGuests([]) }
        if let failure { throw failure }
        try endVisits()
    }

    /// Lets others begin before it is written.
    private func commitInTwoSteps(_ transaction: StoreTransaction) throws {
        guard let finish = try transaction.stage() else { return }
        do { try goOnWithGuests() } catch { visitFailure = error }
        try finish()
    }

    func acknowledge(_ attempt: Int) {
        states.acknowledge(attempt, isDurable: !isRelaxed)
        statistics.commits += 1
    }

    /// Changes that must leave no trace, given up by a call or by letting the transaction go.
    func rollBack(explicitly: Bool) throws {
        let transaction = try openStore().beginWriting()
        var model = states.current
        try workload.change(transaction, &model)
        if generator.chance(0.5) { try compare(try Contents.read(transaction), model, "a transaction") }
        if explicitly { transaction.rollback() }
    }

    func keepSnapshot() throws {
        if snapshots.count > 4 { snapshots.removeFirst() }
        snapshots.append((try openStore().snapshot(), states.current))
    }

    func compareSnapshot() throws {
        guard !snapshots.isEmpty else { return }
        let (snapshot, model) = snapshots.remove(at: generator.next(below: snapshots.count))
        try compare(snapshot, model, "a snapshot")
    }

    func compare() throws {
        try compare(try openStore().snapshot(), states.current, "the store")
    }

    func openReader() throws {
        var options = settings.options(&generator)
        options.isReadOnly = true
        let reader = try Store.open(Self.path, options: options, environment: simulation.environment)
        _ = try index(of: reader.snapshot(), among: shownByCache, "a reader")
    }

    func sync() throws {
        let store = try openStore()
        try admitting(.readers) { try store.sync() }
        states.settle()
        try endVisits()
    }

    func reopen() throws {
        let store = try openStore()
        try admitting(.readers) { try store.close() }
        try endVisits()
        states.settle()
        try open()
        if generator.chance(0.5) { try compare() }
    }

    /// A closed store refuses to write and to read, but for snapshots taken before, and is there for whoever opens it.
    func closeAndStay() throws {
        let closed = try openStore()
        let last = closed.snapshot()
        try closed.close()
        states.settle()
        do {
            _ = try closed.beginWriting()
            throw finding("a closed store took a transaction")
        } catch let error as StoreError {
            guard error.code == .closed else { throw error }
        }
        guard closed.snapshot().treeNames.isEmpty else { throw finding("a closed store shows trees") }
        try open()
        try compare(last, states.current, "a snapshot of a closed store")
    }

    // MARK: Comparing

    func compare(_ snapshot: Snapshot, _ model: StoreModel, _ what: String) throws {
        try compareAll(snapshot, model, what)
        for name in model.names {
            guard let tree = snapshot.tree(name) else { continue }
            try probe(try snapshot[tree], model[name], name)
        }
    }

    /// Compares all entries, without looking at them in other ways.
    func compareAll(_ snapshot: Snapshot, _ model: StoreModel, _ what: String) throws {
        if try Contents.shows(snapshot, model) { return statistics.comparisons += 1 }
        try compare(try Contents.read(snapshot), model, what)
    }

    func compare(_ found: StoreModel, _ model: StoreModel, _ what: String) throws {
        statistics.comparisons += 1
        guard let difference = ContentComparison.difference(found, model) else { return }
        throw finding("\(what): \(difference)")
    }

    /// Looks at one range in the other ways there are: backwards, by rank and by reduction.
    private func probe(_ view: TreeView, _ model: TreeModel, _ name: String) throws {
        let range = workload.range()
        let expected = model.indices(in: range)
        var keys: [Key] = []
        try view.forEach(in: range, reversed: true) { key, _ in
            keys.append(key)
            return true
        }
        guard keys == model.keys[expected].reversed() else { throw finding("\(name) differs backwards") }
        guard view.count == model.count, try view.count(in: range) == expected.count else {
            throw finding("\(name) counts wrongly")
        }
        let key = workload.key()
        guard try view.rank(key) == model.rank(key), try view.value(key) == model[key]?.bytes else {
            throw finding("\(name) has another rank or value for a key")
        }
        guard name == "reduced" else { return }
        let sum = model.keys[expected].reduce(0) { $0 + $1.bytes.count }
        guard Key(try view.reduction(in: range) ?? Key(UInt64(0)).bytes).number == UInt64(sum) else {
            throw finding("\(name) reduces wrongly")
        }
    }
}
