import Roost
import RoostSimulation
import Testing

@testable import RoostQuery

/// Lists of indexes that two processes change without having heard of each other.
@Suite struct SharedIndexListTests {
    private let simulation = Simulation(seed: 1)

    private func open() throws -> (Database, DocumentCollection) {
        var options = DatabaseOptions()
        options.writers = .takingTurns
        let database = try Database.open("db", options: options, environment: simulation.environment)
        return (database, try database.collection("notes"))
    }

    @Test func noneIsLost() throws {
        let (first, mine) = try open()
        let (second, theirs) = try open()
        try mine.createIndex("a", on: "a")
        try theirs.createIndex("b", on: "b")
        try mine.createTextIndex("words", on: "title")
        try theirs.createTextIndex("names", on: "name")
        try mine.createIndex("c", on: "c")
        try theirs.dropIndex("b")
        try mine.dropTextIndex("words")
        for (database, notes) in [(first, mine), (second, theirs)] {
            try database.refresh()
            #expect(try notes.valueIndexes().map(\.name) == ["a", "c"])
            #expect(try notes.textIndexes().map(\.name) == ["names"])
        }
        try first.close()
        try second.close()
    }
}
