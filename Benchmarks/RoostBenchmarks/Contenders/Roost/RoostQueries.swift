import Roost
import RoostQuery

/// Roost's documents, asked in SQL++.
final class RoostQueries: QueryContender {
    private let database: Database
    private let documents: DocumentCollection
    private var queries: [Question: DatabaseQuery] = [:]

    init(_ directory: String) throws {
        database = try Database.open(directory)
        documents = try database.collection("docs")
    }

    func insert(_ batch: [(id: String, json: String)]) throws {
        try database.write { changes in
            for document in batch { try changes.save(json: document.json, id: document.id, in: documents) }
        }
    }

    func makeIndexes() throws {
        try documents.createIndex("by-title", on: "title")
        try documents.createIndex("by-day", on: "day", summing: "amount")
        try documents.createIndex("by-city", on: "city")
    }

    func ask(_ question: Question) throws -> Answer {
        if queries[question] == nil {
            queries[question] = try database.query(question.text(try documents.count))
        }
        guard let cursor = try queries[question]?.cursor() else { return Answer() }
        var answer = Answer()
        while let row = try cursor.next() {
            answer.rows += 1
            answer.last = row[0].double ?? 0
        }
        return answer
    }

    func close() throws {
        queries = [:]
        try database.close()
    }
}
