import Roost
import RoostCampaign
import RoostQuery
import RoostSimulation
import RoostStorage

/// A life's work, and what may go wrong in it.
extension DerivedCampaign {
    /// A moment that was kept, and what views have to show of it as long as it is.
    private struct Moment {
        let snapshot: CollectionSnapshot
        let model: DerivedModel
    }

    /// Lets calls fail, a crash come or the disk run full, or nothing of it.
    func planTrouble() {
        let disk = simulation.disk
        isTroubled = true
        switch generator.next(below: 7) {
        case 0, 1: disk.crash(atChange: disk.counts.changes + 1 + generator.next(below: 160))
        case 2:
            let kinds: [CallKind] = [.write, .sync, .create, .open, .read, .truncate, .remove, .rename]
            let kind = kinds[generator.next(below: kinds.count)]
            disk.faults.fail(kind, probability: 0.04)
            say("  calls fail: \(kind)")
        case 3: disk.faults.fail(nil, at: disk.counts.total + 1 + generator.next(below: 400))
        case 4:
            let files = ["data.roost", "derived/2.roost"]
            let used = files.reduce(0) { $0 + (disk.contents(of: "\(Self.path)/\($1)")?.count ?? 0) }
            disk.faults.capacity = UInt64(used + (2 + generator.next(below: 30)) * 4096)
            say("  the disk is nearly full")
        default: isTroubled = false
        }
    }

    func work(_ notes: DocumentCollection) throws {
        var moments: [Moment] = []
        for _ in 0..<12 where !simulation.disk.hasCrashed {
            statistics.steps += 1
            for _ in 0..<generator.next(below: 4) { try attempt("a commit") { try commit(notes) } }
            try attempt("upkeep") { try maintain(notes) }
            try attempt("comparing") { try compare(notes) }
            try attempt("a moment") {
                if generator.chance(0.2) {
                    let snapshot = try notes.snapshot()
                    moments.append(Moment(snapshot: snapshot, model: try DerivedModel(snapshot)))
                } else if let moment = moments.randomElement(using: &generator) {
                    try compare(notes, moment.model, at: moment.snapshot)
                }
            }
            try examineOutcomes()
        }
    }

    /// The present, as the model maps it.
    func compare(_ notes: DocumentCollection) throws {
        try compare(notes, DerivedModel(notes.snapshot()), at: nil)
    }

    private func compare(
        _ notes: DocumentCollection, _ model: DerivedModel, at moment: CollectionSnapshot?
    ) throws {
        statistics.comparisons += 1
        if let difference = try DerivedQuestions(notes: notes).difference(from: model, at: moment) {
            throw finding((moment == nil ? "" : "in the past, ") + difference)
        }
    }

    /// Runs what may fail with the disk, and for no other reason.
    private func attempt(_ what: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let finding as CampaignFinding {
            throw finding
        } catch {
            if simulation.disk.hasCrashed { return }
            guard isTroubled, Self.isOfTheDisk(error) else { throw finding("\(what): \(error)") }
            say("    \(what): \(error)")
            statistics.failures += 1
        }
    }

    private static func isOfTheDisk(_ error: any Error) -> Bool {
        if let error = error as? DatabaseError {
            return [.inputOutput, .noSpace, .writerFailed].contains(error.code)
        }
        guard let error = error as? StoreError else { return false }
        return [.inputOutput, .noSpace, .writerFailed].contains(error.code)
    }

    private func maintain(_ notes: DocumentCollection) throws {
        let database = notes.database
        switch generator.next(below: 14) {
        case 0: try database.compact()
        case 1: try database.auxiliaryStores.store("\(try notes.snapshot().number)")?.compact()
        case 2: try notes.view(DerivedQuestions.view).drop()
        case 3: try notes.view(DerivedQuestions.view).update()
        case 4, 5, 6:
            let indexes = DerivedQuestions.indexes
            let index = indexes[generator.next(below: indexes.count)]
            say("    index \(index.name)")
            try notes.createIndex(
                index.name, on: index.columns, summing: index.summing, where: index.condition,
                unnesting: index.unnesting)
        case 7: try notes.dropIndex(DerivedQuestions.indexes[generator.next(below: 4)].name)
        default: break
        }
    }

    // MARK: Documents

    private func commit(_ notes: DocumentCollection) throws {
        var generator = generator
        defer { self.generator = generator }
        try notes.database.write { batch in
            for _ in 0...generator.next(below: 8) { try Self.change(notes, batch, &generator) }
        }
        statistics.commits += 1
    }

    /// Makes one change.
    private static func change(
        _ notes: DocumentCollection, _ batch: WriteTransaction, _ generator: inout SeededGenerator
    ) throws {
        let id = "d\(generator.next(below: 40))"
        switch generator.next(below: 14) {
        case 0, 1: try batch.delete(id, in: notes)
        case 2: try batch.purge(id, in: notes)
        default:
            let tags = (0..<generator.next(below: 4)).map { _ in
                DerivedModel.tags[generator.next(below: DerivedModel.tags.count)]
            }
            let kind = DerivedModel.kinds[generator.next(below: DerivedModel.kinds.count)]
            let value = generator.next(below: 100) - 9
            try batch.save(
                json: #"{"v":\#(value),"kind":"\#(kind)","tags":[\#(tags.joined(separator: ","))]}"#, id: id,
                in: notes)
        }
    }
}
