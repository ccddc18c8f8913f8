import Foundation
import Testing

@testable import RoostCommand

/// `roost blob` stores, reads, lists and verifies.
@Suite struct BlobCommandTests {
    private let tool = Tool()
    // "abc" is FIPS 180-4's example; its SHA-1 is a9993e364706816aba3e25717850c26c9cd0d89d.
    private let digest = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="

    /// Calls `body` with a file that holds `text`.
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try body(path)
    }

    @Test func whatIsPutIsListedAndComesBack() throws {
        try withFile("abc") { path in
            #expect(tool.output("blob", "put", path) == "\(digest)\n")
            #expect(
                tool.output("blob", "put", path, "--json", "--type", "text/plain").contains(
                    #""content_type":"text/plain""#))
        }
        #expect(tool.output("blob", "get", digest) == "abc")
        #expect(tool.output("blob", "ls") == "\(digest) 3\n")
        #expect(tool.output("blob", "ls", "--json") == "{\"digest\":\"\(digest)\",\"length\":3}\n")
        #expect(tool.output("blob", "verify") == "1 blob, 0 damaged, 0 missing.\n")
        #expect(
            tool.output("blob", "verify", "--json")
                == "{\"count\":1,\"bytes\":3,\"damaged\":[],\"documents\":[]}\n")
    }

    @Test func damageIsToldAndNothingOfItIsPrinted() throws {
        try withFile("abc") { _ = tool.output("blob", "put", $0) }
        let directory = tool.path + "/blobs/"
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let name = try #require(names.first { $0.hasSuffix(".blob") })
        try Data("abd".utf8).write(to: URL(fileURLWithPath: directory + name))
        let verified = tool.run("blob", "verify")
        #expect(verified.status == 1 && verified.output.contains("1 damaged"))
        let read = tool.run("blob", "get", digest)
        #expect(read.status == 1 && read.output.contains("damaged") && !read.output.contains("abd"))
    }

    @Test func mistakesAreExplained() throws {
        try withFile("abc") { _ = tool.output("blob", "put", $0) }
        #expect(tool.run("blob", "copy").status == 2)
        #expect(tool.run("blob", "get").status == 2)
        let missing = tool.run("blob", "get", "sha1-AAAA")
        #expect(missing.status == 1 && missing.output.contains("blob ls"))
        #expect(tool.run("blob", "put", "/nowhere/at/all").output.contains("can't be read"))
    }
}

// MARK: - AttachCommandTests

/// `roost attach` and `roost detach` edit a document's attachments.
@Suite struct AttachCommandTests {
    private let tool = Tool()
    private let digest = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="

    @Test func anAttachmentIsAddedShownAndRemoved() throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        #expect(tool.run("attach", "n", "a.txt", path).status == 1, "there is no document yet")
        _ = tool.output("put", "n", #"{"v":1}"#)
        #expect(tool.output("attach", "n", "a.txt", path, "--type", "text/plain").hasPrefix("n 2-"))
        let shown = tool.output("export")
        #expect(shown.contains(#""data":"YWJj""#) && shown.contains(#""content_type":"text/plain""#))
        #expect(tool.output("get", "n").contains(digest))
        #expect(tool.output("blob", "get", digest) == "abc")
        #expect(tool.run("detach", "n", "b.txt").status == 1)
        #expect(tool.output("detach", "n", "a.txt").hasPrefix("n 3-"))
        #expect(!tool.output("get", "n").contains(digest))
        _ = tool.output("compact")
        #expect(tool.output("blob", "ls") == "")
    }

    @Test func aFileGivesItsNameAndStandardInputHasNone() throws {
        let directory = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("abc".utf8).write(to: URL(fileURLWithPath: directory + "/photo.jpg"))
        _ = tool.output("put", "n", "{}")
        #expect(tool.output("attach", "n", directory + "/photo.jpg").hasPrefix("n 2-"))
        #expect(tool.output("get", "n").contains(#""photo.jpg":{"digest":"\#(digest)""#))
        let nameless = tool.run("attach", "n", "-")
        #expect(nameless.status == 2 && nameless.output.contains("NAME is missing"))
        let missing = tool.run("attach", "n", "photo.jpg")
        #expect(missing.status == 1 && missing.output.contains("No such file"))
        #expect(tool.run("attach", "n", directory).output.contains("is a directory"))
    }

    @Test func theVerbMayComeBeforeTheDatabase() {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) {
            RoostTool.run(["blob", "ls", tool.path])
        }
        #expect(status == 1 && collector.content.contains("no database"))
        _ = tool.output("put", "n", "{}")
        #expect(
            Console.$collector.withValue(collector) { RoostTool.run(["blob", "verify", tool.path]) } == 0)
        #expect(collector.content.hasSuffix("0 blobs, 0 damaged, 0 missing.\n"))
    }
}
