import Foundation
import Testing

@testable import RoostCommand

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
