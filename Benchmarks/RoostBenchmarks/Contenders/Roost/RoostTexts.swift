import Roost
import RoostQuery

/// Roost's documents with a full-text index.
final class RoostTexts: TextContender {
    private let directory: String
    private let database: Database
    private let documents: DocumentCollection

    init(_ directory: String) throws {
        self.directory = directory
        database = try Database.open(directory)
        documents = try database.collection("docs")
    }

    func insert(_ texts: ArraySlice<String>, from first: Int) throws {
        try database.write { changes in
            for (number, text) in zip(first..., texts) {
                try changes.save(json: try json(text), id: "\(number)", in: documents)
            }
        }
    }

    func makeIndex() throws { try documents.createTextIndex("text", on: "text") }

    func count(_ query: String) throws -> Int { try documents.searchCount("text", query) }

    func best(_ limit: Int, _ query: String) throws -> [Int] {
        // The highest ranks alone: a search by itself counts all documents that it finds as well.
        let cursor = try database.query(
            "SELECT _id FROM docs WHERE MATCH(text, $query) ORDER BY RANK(text) DESC LIMIT \(limit)",
            parameters: ["query": .string(query)]
        ).cursor()
        var numbers: [Int] = []
        while let row = try cursor.next() { numbers.append(row[0].string.flatMap { Int($0) } ?? -1) }
        return numbers
    }

    func update(_ number: Int, _ text: String) throws {
        try documents.save(json: try json(text), id: "\(number)")
    }

    func size() throws -> Int {
        FileTree.size(of: directory) + FileTree.size(of: directory + "/derived")
    }

    func close() throws { try database.close() }

    private func json(_ text: String) throws -> String {
        let properties: DocumentValue = ["text": .string(text)]
        return try properties.json()
    }
}
