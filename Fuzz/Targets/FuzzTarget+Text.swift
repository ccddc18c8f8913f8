import Roost
import RoostQuery
import RoostText

/// Full-text search: words of texts, and what people search for.
extension FuzzTarget {
    static let text = [textWords, textQuery, textIndex]

    // MARK: Words

    /// The first byte chooses a language, the others are the text.
    private static let textWords = FuzzTarget("text-words", largestInput: 1024) {
        ["\u{0}Straße, naïve cafe\u{301} 東京都に 🦉 3.14", "\u{3}l’académie d'été où", "\u{5}Σίσυφος אָלֶף สวัสดี"]
            .map { Array($0.utf8) }
    } run: { input in
        guard let first = input.first else { return }
        let languages: [TextLanguage?] = [nil] + TextLanguage.allCases
        let tokenizer = WordTokenizer(
            language: languages[Int(first) % languages.count], ignoresAccents: first < 128, stopWords: ["the"]
        )
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        var words = WordList()
        tokenizer.words(of: text, into: &words)
        try demand(words.strings.count == words.sources.count, "words without places")
        for source in words.sources {
            try demand(
                source.lowerBound >= 0 && !source.isEmpty && source.upperBound <= text.utf8.count,
                "a word outside of the text")
        }
        for word in words.strings {
            try demand(1...WordList.longestWord ~= word.utf8.count, "a word of \(word.utf8.count) bytes")
            try demand(tokenizer.terms(of: word) == tokenizer.terms(of: word), "a word with two stems")
        }
    }

    // MARK: Searches

    private static let searched = Result { () throws -> DocumentCollection in
        let notes = try Database.inMemory().defaultCollection
        for (number, json) in [
            #"{"title":"The owl","body":"An owl nests under the gable of the old barn."}"#,
            #"{"title":"Owls","body":["running", "from owls", {"deep":"Straße 東京都"}]}"#,
            #"{"title":1,"body":""}"#, "{}",
        ].enumerated() { try notes.save(json: json, id: "d\(number)") }
        try notes.createTextIndex("text", on: "title, body", language: .english, weights: [2])
        return notes
    }

    private static let textQuery = FuzzTarget("text-query", largestInput: 256) {
        [
            "(owl OR gull*) nest NOT \"old barn\"", "title: ^owl^2 NEAR/3 gable -{title body}: x",
            "NEAR(owl \"the gable\", 3) =running gabel~2 京",
        ].map { Array($0.utf8) }
    } run: { input in
        let query = String(decoding: input, as: UTF8.self)
        let notes = try searched.get()
        let typed = try notes.search("text", query, isForgiving: true)
        try demand(typed.total == typed.count, "\(typed.count) of \(typed.total) found")
        for hit in typed { _ = (hit.snippet(words: 3).marked("[", "]"), hit.highlights) }
        _ = try notes.completions("text", of: query)
        guard let found = try? notes.search("text", query) else { return }
        try demand(
            try notes.searchCount("text", query) == found.count, "as many as counted are not found")
        let best = try notes.search("text", query, limit: 1)
        try demand(best.first?.score == found.first?.score, "another best document")
    }
}
