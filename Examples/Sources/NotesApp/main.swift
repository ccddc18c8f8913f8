import Foundation
import Roost

// An afternoon with a small notes app, without its views.

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID()).roost")
defer { try? FileManager.default.removeItem(at: folder) }

let notebook = try Notebook(folder.path)
let noon = Date(timeIntervalSince1970: 1_778_000_000)
let swifts = Note("Swifts", text: "They nest in gables.", tags: ["birds"], at: noon)
try notebook.add(swifts)
try notebook.add(Note("Owls", tags: ["birds", "night"], at: noon + 60))
try notebook.add(Note("Moths", tags: ["night"], at: noon + 120))
print("newest:", try notebook.newest(2).map(\.title))
print("birds:", try notebook.notes(tagged: "birds").map(\.title))

let (changed, report) = AsyncStream<[String]>.makeStream()
let observation = try notebook.observe { report.yield($0) }
try notebook.edit(swifts.id, at: noon + 180) { note in
    note.title = "Common swift"
    note.tags = ["birds", "summer"]
}
for await ids in changed {
    print("changed:", ids == [swifts.id] ? "the note that was edited" : "\(ids)")
    break
}
observation.cancel()
print("summer:", try notebook.notes(tagged: "summer").map(\.title))

try notebook.delete(swifts.id)
print("birds:", try notebook.notes(tagged: "birds").map(\.title))
print("summer:", try notebook.notes(tagged: "summer").map(\.title))
