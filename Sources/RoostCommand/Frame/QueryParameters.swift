import Roost
import RoostQuery

/// The values of a query's parameters, as people give them.
enum QueryParameters {
    /// A name, with or without the dollar sign, without it.
    static func name(_ text: String) -> String { text.hasPrefix("$") ? String(text.dropFirst()) : text }

    /// JSON, or text without quotation marks that is none.
    static func value(_ text: String) -> DocumentValue { (try? DocumentValue(json: text)) ?? .string(text) }

    /// The values that each `--param NAME=JSON` gives.
    static func of(_ invocation: Invocation) throws -> [String: DocumentValue] {
        var values: [String: DocumentValue] = [:]
        for text in invocation.strings("--param") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, !name(parts[0]).isEmpty else {
                throw UsageError("--param is NAME=JSON, not \"\(text)\".")
            }
            values[name(parts[0])] = value(parts[1])
        }
        return values
    }

    /// Makes sure that each parameter of the query is set: one that is not is an error of the query, which does not know what would set it.
    ///
    /// - Parameter remedy: what sets one.
    static func checkAllSet(_ query: DatabaseQuery, _ remedy: String) throws {
        for name in query.parameterNames where query.parameters[name] == nil {
            let near = Suggestion.text(for: name, among: query.parameters.keys.sorted())
            throw CommandFailure("The parameter $\(name) is not set\(near.isEmpty ? "." : near) \(remedy)")
        }
    }

    /// Makes sure that the query mentions each parameter that is set.
    static func checkAllMentioned(_ query: DatabaseQuery) throws {
        for name in query.parameters.keys.sorted() where !query.parameterNames.contains(name) {
            let near = Suggestion.text(for: name, among: query.parameterNames)
            throw CommandFailure("The query has no parameter $\(name)\(near.isEmpty ? "." : near)")
        }
    }
}
