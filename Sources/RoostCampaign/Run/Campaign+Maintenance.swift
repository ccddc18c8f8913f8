import RoostFile
import RoostSimulation
import RoostStorage

/// What keeps a store in shape, and what looks at it from other sides.
extension Campaign {
    /// Compacts, and now and then gives up halfway, which leaves the store as it was.
    func compact() throws {
        var options = CompactionOptions()
        options.memory = 4 << 20
        options.compression = [nil, 0, 6][generator.next(below: 3)]
        options.nodeSize = [nil, 1024, 8192][generator.next(below: 3)]
        if settings.isEncrypted, generator.chance(0.5) {
            options.encryption = .replaced(settings.cipher(UInt8(generator.next(below: 3))))
        }
        let givesUp = generator.chance(0.2)
        let store = try openStore()
        try admitting(.writers) {
            do {
                try store.compact(options) { _ in !givesUp }
            } catch let error as StoreError where error.code == .cancelled {}
        }
        try endVisits()
        if generator.chance(0.5) { try compare() }
    }

    /// Every byte of every commit, every node and value.
    func check() throws {
        let report = try openStore().check()
        guard report.isClean else { throw finding("the check: \(report.findings.map(\.description))") }
    }

    /// A reader in another process that stays open while the writer goes on.
    func follow() throws {
        if follower == nil {
            var options = settings.options(&generator)
            options.isReadOnly = true
            follower = try Store.open(Self.path, options: options, environment: simulation.environment)
        }
        guard let follower else { return }
        try follower.refresh()
        _ = try index(of: follower.snapshot(), among: shownByCache, "a follower")
    }

    /// Brings the backup up to date, which is durable when that returns.
    func backUp() throws {
        var possible = backup ?? PossibleStates(StoreModel())
        let copied = states.current
        possible.attempt(copied)
        backup = possible
        let store = try openStore()
        var isRefused = false
        try admitting(.writers) {
            do {
                try store.backup(to: Self.backupPath)
            } catch let error as StoreError where error.code == .alreadyExists && isBackupOfAnother {
                isRefused = true
            }
        }
        backup = isRefused ? nil : PossibleStates(copied)
        hasBackup = !isRefused
        // That is what the refusal asks for. Should it fail, the next backup is refused as well.
        if isRefused { try? simulation.environment.medium.remove(Self.backupPath) }
        try endVisits()
        try compareBackup()
    }

    /// Whether the backup is of a store that a crash took before anything of it was durable: the present one was made since then.
    private var isBackupOfAnother: Bool {
        // Where the header has the store's ID; see FileFormat.md.
        func storeID(_ path: String) -> ArraySlice<UInt8>? {
            simulation.disk.contents(of: path)?.dropFirst(40).prefix(16)
        }
        return storeID(Self.path) != storeID(Self.backupPath)
    }

    /// Whatever happened, the backup is as it was or complete; and once completed it is there.
    func compareBackup() throws {
        if try readBackup(simulation.environment) != nil, later.chance(0.3) { try useBackup() }
    }

    /// What the backup holds, which must be something that it may; `nil` where there is none.
    @discardableResult
    func readBackup(_ environment: Environment) throws -> StoreModel? {
        guard let backup else { return nil }
        guard try environment.medium.status(of: Self.backupPath) != nil else {
            if hasBackup { throw finding("the backup is gone") }
            return nil
        }
        var options = settings.options(&generator)
        options.isReadOnly = true
        let copy = try Store.open(Self.backupPath, options: options, environment: environment)
        let possible = backup.afterPowerFailure
        return possible[try index(of: copy.snapshot(), among: possible, "the backup")]
    }

    /// Commits to the backup as if it had to take the store's place, on a copy of the disk. That may hold another backup than
    /// the cache shows, where a sync has failed.
    private func useBackup() throws {
        var options = settings.options(&generator)
        options.durability = .full
        let disk = simulation.disk.crashed(seed: later.next(), .keepsAll)
        func environment(_ disk: SimulatedMedium) -> Environment {
            Environment(
                medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: later.next()))
        }
        guard var model = try readBackup(environment(disk)) else { return }
        let copy = try Store.open(Self.backupPath, options: options, environment: environment(disk))
        try copy.write { try $0.put("used", [1], in: try $0.tree("plain")) }
        model["plain"].put("used", TreeModel.Value(bytes: [1]))
        let crashed = disk.crashed(seed: later.next(), .losesAll)
        let again = try Store.open(Self.backupPath, options: options, environment: environment(crashed))
        try compareAll(again.snapshot(), model, "the backup in use")
    }

    private static let backupPath = "backup"

    /// The store as of the commit before the newest that changed anything, where that is still in the file.
    func lookBack() throws {
        let store = try openStore()
        let now = store.snapshot()
        guard let older = try store.history.last(where: { $0.number < now.commit.number }) else { return }
        _ = try Contents.read(try store.snapshot(at: older))
        try compare(try store.snapshot(at: now.commit), states.current, "the newest commit of the history")
    }
}
