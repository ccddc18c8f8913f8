import ChildProcesses
import Foundation
import RoostStorage
import Testing

/// The scripts in Tests/format, which know stores from FileFormat.md alone.
enum PythonReader {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// What the reader says that the store at `path` holds.
    static func list(_ path: String) throws -> StoreListing {
        let (status, output) = try run("roost_reader.py", "--json", path)
        try #require(status == 0, "the reader failed")
        return try JSONDecoder().decode(StoreListing.self, from: output)
    }

    /// The bytes of the store at `path`, field by field.
    static func explain(_ path: String) throws -> String {
        let (status, output) = try run("explain.py", path)
        try #require(status == 0, "explaining failed")
        return String(decoding: output, as: UTF8.self)
    }

    /// Runs a script; returns its exit status and what it wrote.
    static func run(_ script: String, _ arguments: String...) throws -> (status: Int32, output: Data) {
        try ChildProcess.run(
            ["python3", "-B", repository.appendingPathComponent("Tests/format/\(script)").path] + arguments)
    }
}

/// What a store holds as of one commit.
struct StoreListing: Codable, Equatable {
    struct Tree: Codable, Equatable {
        var name: String
        var entries: [Entry]
    }

    /// An entry, in hexadecimal. ``value`` is what a chunk of its own holds.
    struct Entry: Codable, Equatable {
        var key: String
        var inline: String
        var value: String?
    }

    var commit: UInt64
    var trees: [Tree]
    /// How often the reader met each construct of the format.
    var met: [String: Int] = [:]
}

extension StoreListing {
    /// What the engine's own calls say.
    init(_ snapshot: Snapshot) throws {
        commit = snapshot.commit.number
        trees = try snapshot.treeNames.compactMap { snapshot.tree($0) }.map { tree in
            Tree(name: tree.name, entries: try StoreListing.entries(try snapshot[tree]))
        }
    }

    /// The same, leaving out how it was found.
    var content: StoreListing {
        var content = self
        content.trees.sort { $0.name < $1.name }
        content.met = [:]
        return content
    }

    private static func entries(_ view: TreeView) throws -> [Entry] {
        var entries: [Entry] = []
        let cursor = view.cursor()
        while try cursor.next() {
            let value = cursor.reference == nil ? nil : hexadecimal(try cursor.value())
            entries.append(
                Entry(
                    key: hexadecimal(cursor.key.bytes), inline: hexadecimal(cursor.inline.array), value: value
                ))
        }
        return entries
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
