import Foundation
import Roost
import RoostREST
import Testing

/// Directories of databases that others change, or that are not what they should be.
@Suite struct DirectoryTests {
    @Test func aLinkedDatabaseIsNotDeleted() async throws {
        let test = try TestRouter()
        let elsewhere = test.directory + "-elsewhere"
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        let database = try Database.open(elsewhere)
        try await database.defaultCollection.save(json: "{}", id: "a")
        try database.close()
        let link = test.directory + "/linked.roost"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
        #expect(try await test.ask("GET", "/linked/a").status == 200)
        let answer = try await test.ask("DELETE", "/linked")
        #expect(answer.status == 403 && answer["error"] as? String == "forbidden")
        #expect((answer["reason"] as? String)?.contains("is a link to a database elsewhere") == true)
        #expect(try await test.ask("GET", "/linked/a").status == 200)
    }

    /// `_up` reports a database that takes no writes any more, and names it to administrators alone.
    @Test func aDatabaseThatCanNotBeWrittenIsReported() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/notes")
        #expect(try await test.ask("PUT", "/notes/a", "{}").status == 201)
        try FileManager.default.removeItem(atPath: test.directory + "/notes.roost/data.roost")
        #expect(try await test.ask("GET", "/_up").status == 200)
        #expect(try await test.ask("PUT", "/notes/b", "{}").status >= 400)
        let answer = try await test.ask("GET", "/_up")
        #expect(answer.status == 404 && answer["status"] as? String == "write_failed")
        #expect((answer["reason"] as? String)?.contains("notes") == true)
        let nobody = await test.router.respond(to: .get("/_up"))
        #expect(nobody.status == 404)
        #expect(
            String(decoding: try await nobody.bytes(), as: UTF8.self) == #"{"status":"write_failed"}"# + "\n")
    }

    @Test func aDatabaseThatWasRemovedIsNotWrittenAndMayBeMadeAgain() async throws {
        let test = try TestRouter()
        #expect(try await test.ask("PUT", "/notes").status == 201)
        #expect(try await test.ask("PUT", "/notes/a", "{}").status == 201)
        try FileManager.default.removeItem(atPath: test.directory + "/notes.roost")
        #expect(try await test.ask("PUT", "/notes/b", "{}").status >= 400)
        #expect(try await test.ask("PUT", "/notes").status == 201)
        #expect(try await test.ask("GET", "/notes/a").status == 404)
        #expect(try await test.ask("PUT", "/notes/b", "{}").status == 201)
    }

    @Test func aFileIsNoDirectory() throws {
        let file = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data().write(to: URL(fileURLWithPath: file))
        #expect {
            _ = try DatabaseDirectory(file)
        } throws: {
            "\($0)" == "\(file) is a file. Give the directory that holds the databases, or is to hold them."
        }
        #expect {
            _ = try DatabaseDirectory(file + "/below")
        } throws: {
            ($0 as? DatabaseError)?.message.hasPrefix("The directory \(file)/below can't be created: ")
                == true
        }
    }
}
