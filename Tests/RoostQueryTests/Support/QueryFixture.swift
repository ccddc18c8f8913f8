import Foundation
import Roost
import RoostQuery

/// A database in a directory that goes with the value.
final class QueryFixture: Sendable {
    let directory: String
    let database: Database

    init() throws {
        directory = NSTemporaryDirectory() + "roost-query-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        database = try Database.open(directory + "/Test.roost")
    }

    /// A database whose default collection has documents given as JSON, `d0`, `d1` and so on where they have no `_id`.
    convenience init(_ documents: [String]) throws {
        try self.init()
        try fill("_default", documents)
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func fill(_ collection: String, _ documents: [String]) throws {
        let collection = try database.collection(collection)
        try database.write { batch in
            for (number, json) in documents.enumerated() {
                try batch.save(json: json, id: json.contains("\"_id\"") ? nil : "d\(number)", in: collection)
            }
        }
    }

    /// The rows of a query, each as a JSON array; a column without a value as MISSING.
    func rows(_ text: String, _ parameters: [String: DocumentValue] = [:]) throws -> [String] {
        try Self.texts(try database.query(text, parameters: parameters).fetch())
    }

    /// The rows of a query in the JSON schema.
    func rows(json: String, _ parameters: [String: DocumentValue] = [:]) throws -> [String] {
        try Self.texts(try database.query(json: json, parameters: parameters).fetch())
    }

    static func texts(_ rows: [ResultRow]) throws -> [String] {
        rows.map { row in
            let values = (0..<row.count).map { row[$0].exists ? row[$0].json(.canonical) : "MISSING" }
            return values.count == 1 ? values[0] : "[\(values.joined(separator: ","))]"
        }
    }

    /// The message of the error that `body` throws.
    static func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch let error as DatabaseError {
            return error.message
        } catch {
            return "\(error)"
        }
    }
}
