import Testing

@testable import Roost
@testable import RoostStorage

/// Databases whose bodies are read from a mapping.
@Suite struct ValueAccessTests {
    @Test func bodiesAreReadFromTheMapping() throws {
        let place = try TemporaryDatabase()
        var options = DatabaseOptions()
        options.valueAccess = .mapping
        let database = try Database.open(place.path, options: options)
        let documents = try database.defaultCollection
        let text = String(repeating: "x", count: 500)
        for number in 0..<20 {
            _ = try documents.save(json: #"{"number": \#(number), "text": "\#(text)"}"#, id: "\(number)")
        }
        #expect(try documents.document("7")?["number"].int == 7)
        let found = try documents.snapshot().documents(DocumentSelection()).map { $0["number"].int ?? -1 }
        #expect(found.sorted() == Array(0..<20))
        #expect(database.core.store.state.file.mapped != nil)
        try database.close()
    }
}
