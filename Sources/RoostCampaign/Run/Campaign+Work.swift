import RoostSimulation
import RoostStorage

/// What a program does with a store on good days.
extension Campaign {
    func open() throws {
        let options = settings.options(&generator)
        store = try Store.open(Self.path, options: options, environment: simulation.environment)
        isRelaxed = options.durability != .full
    }

    func commit() throws {
        if later.chance(0.15) { return try commitTwo() }
        let transaction = try openStore().beginWriting()
        do {
            var model = states.current
            try workload.change(transaction, &model)
            states.attempt(model)
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
        acknowledge()
    }

    /// Two transactions, the second begun on the first before that is written. Where the first fails the second must fail
    /// too, whether it was complete by then or not.
    private func commitTwo() throws {
        let first = try openStore().beginWriting()
        var model = states.current
        try workload.change(first, &model)
        guard let finishFirst = try first.stage() else { return }
        states.attempt(model)
        var last = model
        var second: WriteTransaction?
        var finishSecond: (() throws(StoreError) -> Void)?
        var failure: (any Error)?
        do {
            second = try openStore().beginWriting()
            if let second { try workload.change(second, &last) }
            if last != model, later.chance(0.5) { finishSecond = try second?.stage() }
        } catch {
            second = nil
            failure = error
        }
        if finishSecond != nil { states.attempt(last) }
        do {
            try finishFirst()
        } catch {
            let buildsOnIt = last != model && failure == nil
            throw buildsOnIt ? try refused(second, finishSecond, after: error) : error
        }
        if finishSecond == nil { acknowledge() }
        if let failure { throw failure }
        if finishSecond == nil { states.attempt(last) }
        if let finishSecond { try finishSecond() } else { try second?.commit() }
        acknowledge()
    }

    /// Makes sure that a transaction which builds on one that failed is refused.
    ///
    /// - Returns: the first one's error.
    private func refused(
        _ transaction: WriteTransaction?, _ finish: (() throws(StoreError) -> Void)?, after failure: any Error
    ) throws -> any Error {
        do {
            if let finish { try finish() } else { try transaction?.commit() }
        } catch {
            return failure
        }
        throw finding("a commit was acknowledged that builds on one that failed")
    }

    private func acknowledge() {
        states.acknowledge(isDurable: !isRelaxed)
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
        options.readOnly = true
        let reader = try Store.open(Self.path, options: options, environment: simulation.environment)
        let found = try Contents.read(reader.snapshot())
        guard states.afterProcessDeath.contains(found) else {
            throw finding("a reader: \(Comparison.difference(found, states.current) ?? "")")
        }
    }

    func sync() throws {
        try openStore().sync()
        states.settle()
    }

    func reopen() throws {
        try openStore().close()
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
        try compare(try Contents.read(snapshot), model, what)
        for name in model.names {
            guard let tree = snapshot.tree(name) else { continue }
            try probe(try snapshot[tree], model[name], name)
        }
    }

    func compare(_ found: StoreModel, _ model: StoreModel, _ what: String) throws {
        statistics.comparisons += 1
        guard let difference = Comparison.difference(found, model) else { return }
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
