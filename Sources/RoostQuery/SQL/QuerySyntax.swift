/// What tools that help to write queries need to know of SQL++.
package enum QuerySyntax {
    /// The keywords, in capitals.
    package static var keywords: [String] { Keywords.all }

    /// The names of functions.
    package static var functions: [String] {
        FunctionTable.all.map(\.name)
    }

    /// Whether a text is likely to go on: what is wrong with it is that it ends, or it has no FROM.
    package static func isIncomplete(_ text: String) -> Bool {
        do throws(QueryError) {
            return try SQLParser.select(text).sources.isEmpty
        } catch {
            var end = text.utf8.count
            for byte in text.utf8.reversed() {
                guard byte <= 32 else { break }
                end -= 1
            }
            return error.offset.map { $0 >= end } ?? false
        }
    }
}
