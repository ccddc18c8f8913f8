import ChildProcesses
import Foundation
import Roost
import RoostQuery
import Testing

@testable import RoostCommand

/// A process that is killed while it builds a view: whoever reads the view next gets all its rows.
@Suite struct KilledBuildTests {
    private let tool = Tool()
    private static let count = 4_000

    private func makeDatabase() throws {
        let database = try Database.open(tool.path)
        let notes = try database.defaultCollection
        try database.write { batch in
            for number in 0..<Self.count {
                try batch.save(json: #"{"n":\#(number % 50),"v":\#(number)}"#, id: "d\(number)", in: notes)
            }
            try batch.save(
                json: #"{"language":"roost","views":{"by-n":{"map":{"emit":[{"key":[".n"],"value":[".v"]}]},"#
                    + #""reduce":"_sum"}}}"#, id: "_design/d", in: notes)
        }
        try database.close()
    }

    @Test(arguments: 0..<6) func rowsAreAllThere(round: Int) throws {
        try makeDatabase()
        for attempt in 0..<4 {
            let process = try ChildProcess(["view", tool.path, "d/by-n"], of: "roost")
            // From when there is a file on, or when the process has ended.
            while process.isRunning, !FileManager.default.fileExists(atPath: tool.path + "/derived/1.roost") {
                usleep(200)
            }
            usleep(UInt32(attempt * 6_000 + round * 9_000))
            process.kill()
            // A process that only reads looks at what is there; it must not be wrong either.
            if attempt % 2 == 0 { try check(isReadOnly: true) }
        }
        try check(isReadOnly: false)
        try check(isReadOnly: true)
    }

    private func check(isReadOnly: Bool) throws {
        let database = try Database.open(tool.path, options: DatabaseOptions(isReadOnly: isReadOnly))
        let view = try database.defaultCollection.view("by-n", of: "d")
        let rows = try view.count()
        #expect(rows == Self.count)
        #expect(try view.reduced(as: Int.self) == Self.count * (Self.count - 1) / 2)
        #expect(try view.groups().count == 50)
        try database.close()
    }
}
