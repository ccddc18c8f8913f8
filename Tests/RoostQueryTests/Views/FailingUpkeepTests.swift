import Fleece
import Roost
import RoostQuery
import RoostSimulation
import Testing

/// Upkeep of a view that is cut off halfway by the medium.
@Suite struct FailingUpkeepTests {
    /// A document is purged, a moment is taken, and the document made anew. However far the view was brought then, it shows the
    /// moment without the document.
    @Test(arguments: 1...6)
    func whatCameAfterAPurgeIsNotInTheMomentBefore(call: Int) throws {
        let simulation = Simulation(seed: UInt64(call))
        let database = try Database.open("notes", environment: simulation.environment)
        let notes = try database.collection("notes")
        let view = notes.view(
            MapReduceView<FleeceValue, FleeceValue>("by-v", version: "1") { note, emit in
                emit(note["v"], note["v"])
            })
        try notes.save(json: #"{"v":1}"#, id: "a")
        try notes.save(json: #"{"v":2}"#, id: "b")
        try view.update()
        try database.write { _ = try $0.purge("a", in: notes) }
        let moment = try notes.snapshot()
        try notes.save(json: #"{"v":3}"#, id: "a")
        var all = ViewQuery()
        all.reduces = false
        simulation.disk.faults.fail(.write, at: simulation.disk.counts[.write] + call)
        _ = try? view.update()
        simulation.disk.faults = FaultPlan()
        #expect(try view.rows(all, at: moment).map(\.id) == ["b"])
        #expect(try view.rows(all).map(\.id) == ["b", "a"])
    }
}
