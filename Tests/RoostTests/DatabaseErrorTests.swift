import Roost
import Testing

@Suite struct DatabaseErrorTests {
    private struct DiskError: Error, CustomStringConvertible {
        var description: String { "write to Notes.roost: error 5" }
    }

    @Test func printsAsASentence() {
        let plain = DatabaseError(.readOnly, "Notes.roost is open for reading only. Open it for writing.")
        #expect("\(plain)" == "Notes.roost is open for reading only. Open it for writing.")
        let caused = DatabaseError(.inputOutput, "Saving failed.", underlyingError: DiskError())
        #expect("\(caused)" == "Saving failed.", "what lies under it may name types and say things twice")
        #expect("\(caused.code)" == "inputOutput")
    }

    @Test func canBeCaughtByCode() {
        func save() throws(DatabaseError) { throw DatabaseError(.conflict, "Somebody saved first.") }
        var caught = ""
        do {
            try save()
        } catch  where error.code == .conflict {
            caught = "conflict"
        } catch {
            caught = "another"
        }
        #expect(caught == "conflict")
    }
}
