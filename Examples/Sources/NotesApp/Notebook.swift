import Foundation
import Roost

/// The model of the app: all notes, and an index of their tags that is never out of step with them.
///
/// It holds no state of its own, so it can be used from any thread.
struct Notebook: Sendable {
    private let database: Database
    private let notes: DocumentCollection
    /// One empty document for each tag of each note, named `tag:note`: listing those of a tag is a prefix.
    private let tagged: DocumentCollection

    init(_ path: String) throws {
        database = try Database.open(path)
        notes = try database.collection("notes")
        tagged = try database.collection("tagged")
    }

    /// Stores a new note and what the index says of it in one transaction.
    func add(_ note: Note) throws {
        try database.write { batch in
            try batch.save(note, in: notes)
            try index(note.id, from: [], to: note.tags, in: batch)
        }
    }

    /// Changes the newest version of a note; returns whether there is one.
    @discardableResult
    func edit(_ id: String, at time: Date, _ change: (inout Note) -> Void) throws -> Bool {
        try database.write { batch in
            var before: [String] = []
            let edited = try batch.update(id, as: Note.self, in: notes) { note in
                before = note.tags
                change(&note)
                note.changed = time
            }
            try index(id, from: before, to: edited?.tags ?? [], in: batch)
            return edited != nil
        }
    }

    /// Deletes a note and forgets its tags.
    func delete(_ id: String) throws {
        try database.write { batch in
            guard let note = try batch.get(id, as: Note.self, in: notes) else { return }
            try batch.delete(note, in: notes)
            try index(id, from: note.tags, to: [], in: batch)
        }
    }

    /// The newest notes, newest first.
    func newest(_ count: Int) throws -> [Note] {
        try notes.snapshot().documents(limit: count, descending: true).map { try $0.decode(Note.self) }
    }

    /// All notes with a tag, oldest first, from one moment.
    func notes(tagged tag: String) throws -> [Note] {
        try database.read { snapshot in
            try snapshot[tagged].documents(prefix: tag + ":").compactMap { entry in
                try snapshot[notes].get(String(entry.id.dropFirst(tag.count + 1)))?.decode(Note.self)
            }
        }
    }

    /// Calls `listener` with the IDs of notes that changed, as long as the result is kept.
    func observe(_ listener: @escaping @Sendable ([String]) -> Void) throws -> ObservationToken {
        try notes.observe { changes in listener(changes.map(\.id)) }
    }

    private func index(_ id: String, from old: [String], to new: [String], in batch: WriteBatch) throws {
        for tag in Set(old).subtracting(new) { try batch.delete("\(tag):\(id)", in: tagged) }
        for tag in Set(new).subtracting(old) {
            try batch.save(json: "{}", id: "\(tag):\(id)", in: tagged)
        }
    }
}
