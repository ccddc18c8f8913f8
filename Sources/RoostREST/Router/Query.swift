import Fleece
import RoostWire

/// The parameters of a request, read as what CouchDB takes them for. Those that nobody asks for are ignored.
struct RequestQuery: Sendable {
    private(set) var parameters: QueryParameters
    /// Flags that may not be set.
    var refused: Set<String> = []

    init(_ parameters: QueryParameters) { self.parameters = parameters }

    subscript(_ name: String) -> String? { parameters[name] }

    /// `true` or `false`.
    func flag(_ name: String, default value: Bool = false) throws -> Bool {
        switch parameters[name]?.lowercased() {
        case nil: value
        case "true" where refused.contains(name):
            throw HTTPFailure.forbidden("\(name) is for administrators of this database.")
        case "true": true
        case "false": false
        case let other?:
            throw HTTPFailure.invalidQuery("Invalid boolean parameter: \(JSON.string(other).text)")
        }
    }

    /// A whole number that is not negative.
    func count(_ name: String) throws -> Int? {
        guard let text = parameters[name] else { return nil }
        guard let number = Int(text) else {
            throw HTTPFailure.invalidQuery("Invalid value for integer: \(JSON.string(text).text)")
        }
        guard number >= 0 else {
            throw HTTPFailure.invalidQuery("Invalid value for positive integer: \(JSON.string(text).text)")
        }
        return number
    }

    /// A value in JSON, under any of several names.
    func json(_ names: String...) throws -> FleeceDocument? {
        for name in names {
            guard let text = parameters[name] else { continue }
            do throws(FleeceError) {
                return try FleeceDocument(json: text)
            } catch {
                throw HTTPFailure.badRequest("invalid UTF-8 JSON in \(name): \(error.message)")
            }
        }
        return nil
    }

    /// The same parameters but one.
    func without(_ name: String) -> RequestQuery {
        var copy = self
        copy.parameters[name] = nil
        return copy
    }

    /// The same parameters with those of a JSON object in their place. `keys` is none of them: a list that may be long is read where
    /// it is.
    func overridden(by object: FleeceDictionary) -> RequestQuery {
        var copy = self
        for (name, value) in object where name != "keys" {
            copy.parameters[name] = RequestQuery.text(name, value)
        }
        return copy
    }

    /// The same parameters with those of a JSON object, except `keys`, where they are not given.
    func completed(by object: FleeceDictionary) -> RequestQuery {
        var copy = self
        for (name, value) in object
        where name != "keys" && !RequestQuery.names(of: name).contains(where: { parameters[$0] != nil }) {
            copy.parameters[name] = RequestQuery.text(name, value)
        }
        return copy
    }

    /// All names of a parameter.
    private static func names(of name: String) -> [String] {
        let several = [
            ["startkey", "start_key"], ["endkey", "end_key"], ["startkey_docid", "start_key_doc_id"],
            ["endkey_docid", "end_key_doc_id"],
        ]
        return several.first { $0.contains(name) } ?? [name]
    }

    /// How a value would be written as a parameter: those that are JSON anyway as JSON.
    private static func text(_ name: String, _ value: FleeceValue) -> String {
        let isJSON = [
            "key", "startkey", "start_key", "endkey", "end_key", "doc_ids",
        ].contains(name)
        return isJSON ? value.json() : value.string ?? value.json()
    }
}

extension JSON {
    /// The text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
