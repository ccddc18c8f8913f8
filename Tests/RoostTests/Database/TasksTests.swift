import Foundation
import Roost
import Testing

/// The forms for tasks.
@Suite struct TasksTests {
    let files: TemporaryDatabase
    let database: Database
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    private struct Note: Codable, Equatable, Identifiable {
        var id: String
        var title: String
    }

    @Test func everyFormSavesAndDeletes() async throws {
        try await notes.save(Note(id: "a", title: "Swifts"))
        try await notes.save(json: #"{"title":"Martins"}"#, id: "b")
        var draft = MutableDocument(id: "c", ["title": "Swallows"])
        let saved = try await notes.save(&draft)
        #expect(draft.revision == saved.revision)
        #expect(try notes.documents().map { $0["title"].string } == ["Swifts", "Martins", "Swallows"])
        draft["title"] = "Nightjars"
        try await notes.save(json: "{}", id: "c")
        #expect(await code { try await notes.save(&draft) } == .conflict)
        #expect(draft.revision == saved.revision, "a save that failed leaves the draft as it was")
        try await notes.save(&draft, onConflict: .merge { mine, _ in mine })
        #expect(try notes["c"]?["title"].string == "Nightjars")
        #expect(try await notes.delete("a")?.isDeleted == true)
        #expect(try await notes.delete(saved.id) != nil)
        #expect(try await notes.purge("b").count == 1)
        #expect(try notes.count == 0)
        #expect(await code { try await notes.save(json: "[]") } == .invalidDocument)
    }

    @Test func longWorkHasAForm() async throws {
        try await notes.save(json: #"{"v":1}"#, id: "a")
        let copy = files.directory + "/Copy.roost"
        try await database.backup(to: copy)
        try await database.compact()
        #expect(try await database.check().isSound)
        #expect(try Database.open(copy).collection("notes")["a"]?["v"].int == 1)
        let task = Task { [database] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await database.check()
        }
        let result = await task.result
        #expect(code { _ = try result.get() } == .cancelled)
    }

    /// A task that waits behind a long write is answered as soon as it is cancelled.
    @Test func aWaitingTaskIsCancelledAtOnce() async throws {
        let (begun, turn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let blocker = Task { [database, notes] in
            try await database.write { batch in
                begun.signal()
                try batch.save(json: "{}", id: "blocker", in: notes)
                turn.wait()
            }
        }
        await Task.detached { begun.wait() }.value
        let waiting = (0..<40).map { number in
            Task { [notes] in try await notes.save(json: "{}", id: "n\(number)") }
        }
        // More than there are threads to wait on: the last ones have not begun.
        try await Task.sleep(for: .milliseconds(50))
        waiting.last?.cancel()
        let last = try #require(await waiting.last?.result)
        #expect(code { _ = try last.get() } == .cancelled)
        for task in waiting { task.cancel() }
        turn.signal()
        try await blocker.value
        for task in waiting { _ = await task.result }
        #expect(
            try notes.documents().map(\.id) == ["blocker"], "nor do those write that had a thread already")
    }

    @Test func aLongWriteCanAskWhetherToGoOn() async throws {
        let begun = DispatchSemaphore(value: 0)
        let task = Task { [database, notes] in
            try await database.write { batch in
                begun.signal()
                while true {
                    _ = try batch.save(json: "{}", in: notes)
                    try batch.checkCancellation()
                }
            }
        }
        await Task.detached { begun.wait() }.value
        task.cancel()
        let result = await task.result
        #expect(code { _ = try result.get() } == .cancelled)
        #expect(try notes.count == 0)
        try await database.write { try $0.checkCancellation() }
    }

    /// While a write takes its time, tasks go on, though there are more of them than threads.
    @Test func noExecutorIsBlockedByWaitingWriters() async throws {
        let turn = DispatchSemaphore(value: 0)
        let (begun, report) = AsyncStream<Void>.makeStream()
        let holder = Task { [database] in
            try await database.write { _ in
                report.yield()
                turn.wait()
            }
        }
        for await _ in begun { break }
        let writers = (0..<200).map { number in
            Task { [notes] in try await notes.save(json: "{}", id: "n\(number)") }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { await Task.yield() } }
        }
        #expect(try notes.count == 0, "all of them went on while the write was under way")
        turn.signal()
        try await holder.value
        for writer in writers { _ = try await writer.value }
        #expect(try notes.count == 200)
    }
}

/// The code of the error that `body` throws; `nil` when it throws none.
private func code(_ body: () async throws -> Void) async -> DatabaseError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? DatabaseError)?.code
    }
}
