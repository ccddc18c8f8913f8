import Foundation
import Roost

/// A program to be killed: writes a database by turns with others, for ever, and tells the number of each commit that was
/// acknowledged.
///
///     DatabaseWriter PATH PROCESS
///     DatabaseWriter memory PATH    uses a database in memory where all directories are PATH, and tells what came there
///
/// Each commit saves a document of its own, with a blob, and adds one to a count that all processes share.
let arguments = CommandLine.arguments

func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func work(_ path: String, _ process: Int) throws {
    var options = DatabaseOptions()
    options.writers = .takingTurns
    let database = try Database.open(path, options: options)
    let notes = try database.defaultCollection
    try database.refresh()
    var number = try notes.documents(prefix: "p\(process)-").count
    while true {
        let blob = try database.saveBlob(Array("\(process) \(number)".utf8))
        try database.write { batch in
            var count = try batch.document("count", in: notes)?.mutableCopy() ?? MutableDocument(id: "count")
            count["n"] = (count["n"].int ?? 0) + 1
            try batch.save(&count, in: notes)
            try batch.save(["blob": blob], id: "p\(process)-\(number)", in: notes)
        }
        number += 1
        tell("\(process) \(number)")
        guard number % 25 == 0 else { continue }
        do {
            try database.compact()
        } catch {
            // Another process may be compacting.
            guard error.code == .locked else { throw error }
        }
    }
}

func useMemory(_ directory: String) throws {
    for name in ["HOME", "TMPDIR"] { unsafe setenv(name, directory, 1) }
    guard FileManager.default.changeCurrentDirectoryPath(directory) else { exit(2) }
    let database = try Database.inMemory(options: DatabaseOptions(key: .random()))
    let notes = try database.defaultCollection
    try notes.save(["picture": try database.saveBlob([UInt8](repeating: 1, count: 100_000))], id: "a")
    try notes.save(json: #"{"v":1}"#, id: "b")
    try database.compact()
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: directory)
        + (files.fileExists(atPath: database.path) ? [database.path] : [])
    { tell(name) }
    tell("\(try notes.count) documents")
    try database.close()
}

if arguments.count == 3, arguments[1] == "memory" {
    do { try useMemory(arguments[2]) } catch { tell("failed: \(error)") }
    exit(0)
}
guard arguments.count == 3, let process = Int(arguments[2]) else { exit(2) }
do { try work(arguments[1], process) } catch { tell("failed: \(error)") }
