import Foundation
import Roost
import RoostQuery

/// Queries of files: `SELECT … FROM 'cities.csv'`. The files are read into collections of a database in memory, which goes with the value.
struct FileTables {
    /// The query, with the names of collections in the place of files.
    let text: String
    let collection: DocumentCollection
    private static let batch = 10_000

    /// `nil` for a query that names no file.
    init?(_ query: String) throws {
        let sources = QuerySyntax.textSources(of: query)
        guard !sources.isEmpty else { return nil }
        let database = try Database.inMemory()
        var names: [(path: String, name: String)] = []
        var text = Array(query.utf8)
        for source in sources.reversed() {
            let known = names.first { $0.path == source.text }?.name
            let name = try known ?? Self.read(source.text, into: database, except: names.map(\.name))
            if known == nil { names.append((source.text, name)) }
            // As long as before, so that errors name places in what was typed.
            let space = String(repeating: " ", count: max(0, source.range.count - name.utf8.count - 2))
            text.replaceSubrange(source.range, with: Array("`\(name)`\(space)".utf8))
        }
        self.text = String(decoding: text, as: UTF8.self)
        collection = try database.defaultCollection
    }

    /// Reads a file into a collection that is called like it; answers the name.
    private static func read(_ path: String, into database: Database, except taken: [String]) throws -> String
    {
        let path = NSString(string: path).expandingTildeInPath
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let base = String(file.split(separator: ".").first ?? "file").unicodeScalars.map {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                ? Character($0) : "_"
        }
        var name = String(base)
        if name.first == "_" || name.isEmpty { name = "t" + name }
        var number = 2
        while taken.contains(name) {
            name = String(base) + "\(number)"
            number += 1
        }
        let collection = try database.collection(name)
        var options = ImportOptions()
        options.revisions = .new
        let source = try ImportCommand.source(path, ImportFormat(path: path), idField: options.idField)
        var job = ImportJob(source, collection: collection, options)
        while !job.isDone { try database.write { batch in try job.fill(batch, Self.batch) } }
        return name
    }
}
