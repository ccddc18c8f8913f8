import Roost
import RoostQuery
import RoostSimulation
import Testing

/// Queries of a database whose medium fails.
@Suite struct FailingDatabaseTests {
    /// What the medium did is no fault of the query's text.
    @Test func aFailedReadIsNotTakenForAWrongQuery() throws {
        let simulation = Simulation(seed: 1)
        func open() throws -> Database {
            try Database.open("notes", options: DatabaseOptions(), environment: simulation.environment)
        }
        let made = try open()
        let notes = try made.collection("notes")
        for number in 0..<50 { try notes.save(json: #"{"v":\#(number)}"#, id: "d\(number)") }
        try notes.createIndex("by-value", on: "v")
        try made.compact()
        try made.close()
        for number in 0..<3 {
            let database = try open()
            let notes = try database.collection("notes")
            simulation.disk.faults.fail(.read, probability: 1)
            let error = #expect(throws: DatabaseError.self) {
                switch number {
                case 0: _ = try database.query("SELECT v FROM notes WHERE v = 3").fetch()
                case 1: _ = try notes.query(json: #"{"WHAT":[[".v"]],"WHERE":["=",[".v"],3]}"#).fetch()
                default: _ = try notes.find(json: #"{"selector":{"v":3}}"#)
                }
            }
            #expect(error?.code == .inputOutput, "\(String(describing: error))")
            simulation.disk.faults = FaultPlan()
            try database.close()
        }
    }
}
