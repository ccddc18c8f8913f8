import ChildProcesses
import Foundation
import Testing

/// Queries of processes in several time zones: each answers in its own, whoever made the index.
@Suite struct LocalTimeTests {
    private let tool = Tool()

    private func output(in zone: String, _ arguments: [String]) throws -> String {
        let process = try ChildProcess(command: ["/usr/bin/env", "TZ=\(zone)", Tool.program] + arguments)
        return process.readToEnd()
    }

    @Test func indexesOfLocalTimeAreMadeAnewElsewhere() throws {
        for number in 0..<40 {
            #expect(tool.run("put", "d\(number)", #"{"s":"2020-01-01T00:00:00","n":\#(number)}"#).status == 0)
        }
        // Midnight in New York.
        let query = [
            "query", tool.path, "SELECT count(*) AS c FROM _ WHERE str_to_millis(s) = 1577854800000",
        ]
        #expect(try output(in: "America/New_York", query) == "{\"c\":40}\n")
        _ = try output(in: "UTC", ["index", "create", tool.path, "z", "--on", "str_to_millis(s)"])
        let explained = try output(in: "America/New_York", query + ["--explain"])
        #expect(explained.contains("z"))
        #expect(try output(in: "America/New_York", query) == "{\"c\":40}\n")
        #expect(try output(in: "UTC", query) == "{\"c\":0}\n")
    }

    /// Views go with the database, and are the same everywhere.
    @Test func viewsAreInUTC() throws {
        let design =
            #"{"language":"roost","views":{"v":{"map":{"emit":[{"key":["millis_to_str()",[".ms"]]}]}}}}"#
        #expect(tool.run("put", "_design/d", design).status == 0)
        #expect(tool.run("put", "a", #"{"ms":0}"#).status == 0)
        #expect(
            try output(in: "America/New_York", ["view", tool.path, "d/v"]).contains("1970-01-01T00:00:00Z"))
    }
}
