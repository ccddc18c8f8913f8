import Foundation
import Roost

/// A program to be killed: writes a database by turns with others, for ever, and tells the number of each commit that was
/// acknowledged.
///
///     DatabaseWriter PATH PROCESS
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
            var count = try batch.get("count", in: notes)?.mutableCopy() ?? MutableDocument(id: "count")
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

guard arguments.count == 3, let process = Int(arguments[2]) else { exit(2) }
do { try work(arguments[1], process) } catch { tell("failed: \(error)") }
