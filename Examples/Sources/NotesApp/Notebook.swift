import Foundation
import Roost
import RoostQuery

/// The model of the app: all notes, with an index of their tags.
///
/// It holds no state of its own, so it can be used from any thread.
struct Notebook: Sendable {
    private let notes: TypedCollection<Note>

    init(_ path: String) throws {
        notes = try Database.open(path).collection("notes", of: Note.self)
        // The same index twice does nothing. It follows all changes by itself.
        try notes.createIndex("by-tag", unnesting: \.tags)
    }

    /// Stores a new note.
    func add(_ note: Note) throws { try notes.save(note) }

    /// Changes the newest version of a note; returns whether there is one.
    @discardableResult
    func edit(_ id: String, at time: Date, _ change: (inout Note) -> Void) throws -> Bool {
        let edited = try notes.update(id) { note in
            change(&note)
            note.changed = time
        }
        return edited != nil
    }

    /// Deletes a note.
    func delete(_ id: String) throws { try notes.delete(id) }

    /// The newest notes, newest first.
    func newest(_ count: Int) throws -> [Note] {
        try notes.documents.snapshot().documents(limit: count, isDescending: true).map {
            try $0.decode(Note.self)
        }
    }

    /// All notes with a tag, oldest first, as of one point in time.
    func notes(tagged tag: String) throws -> [Note] {
        try notes.query().where { $0.tags.contains(tag) }.order(by: \.id).fetch().map(\.value)
    }

    /// Calls `listener` with the IDs of notes that changed, as long as the result is kept.
    func observe(_ listener: @escaping @Sendable ([String]) -> Void) throws -> ObservationToken {
        try notes.documents.observe { changes in listener(changes.map(\.id)) }
    }
}
