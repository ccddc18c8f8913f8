import Dispatch
import Roost
import RoostQuery
import Testing

/// Queries that tell when their answers change.
@Suite struct QueryUpdatesTests {
    @Test func onlyChangesOfTheAnswerAreTold() async throws {
        let fixture = try QueryFixture([#"{"n":1}"#, #"{"n":5}"#])
        let notes = try fixture.database.defaultCollection
        let query = try fixture.database.query("SELECT n FROM _ WHERE n > 2 ORDER BY n")
        var updates = query.updates.makeAsyncIterator()
        #expect(try await updates.next()?.map { $0.n.int } == [5])
        // Of no interest, and then of some.
        try await notes.save(json: #"{"n":0}"#, id: "x")
        try await notes.save(json: #"{"n":9}"#, id: "y")
        #expect(try await updates.next()?.map { $0.n.int } == [5, 9])
        try await notes.delete("y")
        #expect(try await updates.next()?.map { $0.n.int } == [5])
    }

    @Test func joinsListenToAllTheirCollections() async throws {
        let fixture = try QueryFixture([#"{"k":"a"}"#])
        try fixture.fill("names", [#"{"_id":"a","name":"Anna"}"#])
        let query = try fixture.database.query(
            "SELECT n.name FROM _ AS d JOIN names AS n ON META(n).id = d.k")
        var updates = query.updates.makeAsyncIterator()
        #expect(try await updates.next()?.map { $0.name.string } == ["Anna"])
        try await fixture.database.collection("names").save(json: #"{"name":"Ann"}"#, id: "a")
        #expect(try await updates.next()?.map { $0.name.string } == ["Ann"])
    }

    @Test func aCancelledTaskHearsNoMore() async throws {
        let fixture = try QueryFixture([#"{"n":1}"#])
        let query = try fixture.database.query("SELECT n FROM _")
        let task = Task {
            var count = 0
            for try await _ in query.updates { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }

    @Test func listsAreToldWhatToDo() async throws {
        let fixture = try QueryFixture((0..<5).map { #"{"_id":"d\#($0)","n":\#($0)}"# })
        let notes = try fixture.database.defaultCollection
        let query = try fixture.database.query("SELECT _id, n FROM _ WHERE n >= 0 ORDER BY n")
        var differences = query.differences(by: "_id").makeAsyncIterator()
        let first = try #require(try await differences.next())
        #expect(first.insertions == [0, 1, 2, 3, 4] && first.removals.isEmpty && first.moves.isEmpty)
        try await fixture.database.write { batch in
            try batch.delete("d1", in: notes)
            try batch.save(json: #"{"n":9}"#, id: "d0", in: notes)
            try batch.save(json: #"{"n":2.5}"#, id: "new", in: notes)
        }
        // d2, new, d3, d4, d0
        let second = try #require(try await differences.next())
        #expect(second.removals == [1])
        #expect(second.insertions == [1])
        #expect(second.moves.map { [$0.from, $0.to] } == [[0, 4]])
        #expect(second.updates == [4])
    }

    /// A list that does what it is told shows the rows.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func listsThatDoWhatTheyAreToldShowTheRows(seed: UInt64) async throws {
        var random = QueryGenerator(seed: seed)
        let fixture = try QueryFixture((0..<12).map { #"{"_id":"d\#($0)","n":\#(random.number(9))}"# })
        let notes = try fixture.database.defaultCollection
        let query = try fixture.database.query("SELECT _id, n FROM _ WHERE n > 1 ORDER BY n, _id")
        var differences = query.differences(by: "_id").makeAsyncIterator()
        var shown = try #require(try await differences.next()).rows
        for _ in 0..<4 {
            var edits: [(id: String, number: Int?)] = []
            for _ in 0..<5 {
                let number = random.number(12)
                edits.append(("d\(random.number(16))", number < 9 ? number : nil))
            }
            try await fixture.database.write { [edits] batch in
                for edit in edits {
                    if let number = edit.number {
                        try batch.save(json: #"{"n":\#(number)}"#, id: edit.id, in: notes)
                    } else {
                        try batch.delete(edit.id, in: notes)
                    }
                }
            }
            let expected = try await Task.detached { try query.fetch() }.value
            guard expected != shown else { continue }
            let difference = try #require(try await differences.next())
            #expect(!difference.isEmpty)
            let moved = difference.moves.map { shown[$0.from] }
            let gone = Set(difference.removals + difference.moves.map(\.from))
            var list = shown.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
            let arrivals =
                difference.insertions.map { ($0, difference.rows[$0]) }
                + zip(difference.moves, moved).map { ($0.to, $1) }
            for (place, row) in arrivals.sorted(by: { $0.0 < $1.0 }) { list.insert(row, at: place) }
            for place in difference.updates { list[place] = difference.rows[place] }
            #expect(list == expected)
            shown = expected
        }
    }

    @Test func rowsStream() async throws {
        let fixture = try QueryFixture((0..<300).map { #"{"n":\#($0)}"# })
        let notes = try fixture.database.defaultCollection
        var numbers: [Int] = []
        for try await row in try fixture.database.query("SELECT n FROM _ ORDER BY n").rows {
            numbers.append(row.n.int ?? -1)
            // They are those of one moment.
            if numbers.count == 10 { try await notes.save(json: #"{"n":12.5}"#, id: "late") }
        }
        #expect(numbers == Array(0..<300))
        let endless = try fixture.database.query(
            "SELECT count(*) FROM _ a CROSS JOIN _ b CROSS JOIN _ c CROSS JOIN _ d")
        let task = Task {
            do {
                for try await _ in endless.rows {}
                return "ended"
            } catch { return "\((error as? DatabaseError)?.code ?? .closed)" }
        }
        task.cancel()
        #expect(await task.value.contains("cancelled"))
    }

    @Test func documentsAreChangedAndDeletedByCondition() throws {
        let fixture = try QueryFixture((0..<10).map { #"{"_id":"d\#($0)","n":\#($0)}"# })
        let notes = try fixture.database.defaultCollection
        #expect(try notes.update(where: "n >= $least", ["least": 7]) { $0["big"] = true } == 3)
        #expect(try notes.delete(where: "n < 5 OR big = true") == 8)
        #expect(try fixture.rows("SELECT n FROM _ ORDER BY n") == ["5", "6"])
        #expect(try notes.delete(where: "n > 100") == 0)
        #expect(QueryFixture.message { try notes.delete(where: "n >") }.contains("An expression is expected"))
        // All or none.
        #expect(throws: DatabaseError.self) {
            try notes.update(where: "n > 0") { (draft) throws(DatabaseError) in
                if draft["n"]?.int == 6 { throw DatabaseError(.invalidDocument, "not this one") }
                draft["seen"] = true
            }
        }
        #expect(try fixture.rows("SELECT n FROM _ WHERE seen") == [])
    }
}

// MARK: - Row stream tests

/// Rows for tasks.
@Suite(.timeLimit(.minutes(5))) struct RowStreamTests {
    /// Builds a view that stops at its first document until `gate` is signalled, on a thread of its own.
    private func build(_ fixture: QueryFixture, _ gate: DispatchSemaphore, begun: DispatchSemaphore) throws {
        let view = MapReduceView<Int, Int>("slow", version: "1") { _, _ in
            begun.signal()
            gate.wait()
            gate.signal()
        }
        let notes = try fixture.database.defaultCollection
        Thread.detach { _ = try? notes.view(view).rows() }
    }

    private enum Thread {
        static func detach(_ body: @escaping @Sendable () -> Void) {
            DispatchQueue(label: "build").async(execute: body)
        }
    }

    @Test func queriesThatWaitForABuildStopNoOtherDatabase() async throws {
        let (slow, quick) = (try QueryFixture([#"{"n":1}"#]), try QueryFixture([#"{"n":2}"#]))
        let notes = try slow.database.defaultCollection
        try notes.createIndex("n", on: "n")
        _ = try slow.database.query("SELECT n FROM _ WHERE n > 0").fetch()
        let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try build(slow, gate, begun: begun)
        await withCheckedContinuation { done in
            DispatchQueue(label: "begun").async {
                begun.wait()
                done.resume()
            }
        }
        // Changed by more than can be looked at beside the index.
        try await notes.database.write { batch in
            for number in 0..<5_000 {
                try batch.save(json: #"{"n":\#(number)}"#, id: "x\(number)", in: notes)
            }
        }
        let query = try slow.database.query("SELECT n FROM _ WHERE n = 3")
        // More than have threads, also while others work in their place.
        let waiting = (0..<40).map { _ in
            Task {
                var rows: [Int?] = []
                for try await row in query.rows { rows.append(row.n.int) }
                return rows
            }
        }
        let cancelled = Task {
            for try await _ in query.rows {}
        }
        for try await row in try quick.database.query("SELECT n FROM _").rows { #expect(row.n.int == 2) }
        // Whose task is cancelled waits for no build.
        cancelled.cancel()
        _ = await cancelled.result
        gate.signal()
        for task in waiting { #expect(try await task.value == [3]) }
    }
}
