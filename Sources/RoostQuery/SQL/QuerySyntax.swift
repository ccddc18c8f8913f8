/// What tools that help to write queries need to know of SQL++.
package enum QuerySyntax {
    /// The keywords, in capitals.
    package static var keywords: [String] { Keywords.all }

    /// The names of functions.
    package static var functions: [String] {
        FunctionTable.all.map(\.name)
    }

    /// The texts in quotation marks that stand where a query has a collection, behind FROM or JOIN, with their places in bytes.
    package static func textSources(of text: String) -> [(range: Range<Int>, text: String)] {
        guard let tokens = try? Lexer.tokens(of: text) else { return [] }
        let bytes = Array(text.utf8)
        return tokens.indices.dropFirst().compactMap { index in
            guard case .string(let source) = tokens[index].kind, let keyword = tokens[index - 1].keyword,
                keyword == "FROM" || keyword == "JOIN",
                // EXTRACT(year FROM '2024-02-29')
                index < 4 || tokens[index - 4].keyword != "EXTRACT"
            else { return nil }
            let mark = bytes[tokens[index].offset]
            // Each mark in the text stands there twice.
            let length = source.utf8.reduce(2) { $0 + ($1 == mark ? 2 : 1) }
            return (tokens[index].offset..<tokens[index].offset + length, source)
        }
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
