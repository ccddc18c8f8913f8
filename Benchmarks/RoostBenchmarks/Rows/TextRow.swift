import Foundation

/// T1: full-text search of the entries of a dictionary.
enum TextRow {
    private static let batch = 1_000

    static func run(on stage: Stage) throws {
        let texts = try TextCorpus.texts(stage.textFile, count: stage.corpus.count)
        let length = texts.reduce(0) { $0 + $1.utf8.count }
        let store = try stage.openTexts()
        for start in stride(from: 0, to: texts.count, by: batch) {
            try store.insert(texts[start..<min(start + batch, texts.count)], from: start)
        }
        let before = try store.size()
        let processor = Clock.processorSeconds()
        let building = try stage.measure { try store.makeIndex() }
        stage.record(.textBuild, Double(length) / building.seconds / 1e6)
        stage.record(.textBuildProcessor, Double(length) / (Clock.processorSeconds() - processor) / 1e6)
        stage.record(.textSize, Double(try store.size() - before) / Double(length))
        for search in TextSearch.allCases {
            guard try store.count(search.query) > 0 else {
                throw BenchmarkError("\(search.query) finds nothing")
            }
            try ask(Metric(search), on: stage) {
                if search.isRanked {
                    guard try !store.best(10, search.query).isEmpty else {
                        throw BenchmarkError("\(search.query) has no best")
                    }
                } else {
                    _ = try store.count(search.query)
                }
            }
        }
        var number = 0
        try ask(.textUpdate, on: stage) {
            number += 1
            try store.update(number * 7919 % texts.count, "An entry changed to speak of newword\(number)")
            guard try store.count("newword\(number)") == 1 else {
                throw BenchmarkError("a changed text was not found")
            }
        }
        try store.close()
    }

    /// Records how many milliseconds `body` takes.
    private static func ask(_ metric: Metric, on stage: Stage, _ body: () throws -> Void) throws {
        var asked = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                try body()
                asked += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        stage.record(metric, measurement.seconds * 1_000 / Double(asked))
    }
}

/// What is searched for. All contenders take the same language.
enum TextSearch: String, CaseIterable, Sendable {
    case count, and, phrase, prefix, near, bestOfMany, bestOfFew

    var query: String {
        switch self {
        case .count, .bestOfMany: "the"
        case .and: "water AND river"
        case .phrase: "\"of the\""
        case .prefix: "wat*"
        case .near: "NEAR(water river, 10)"
        case .bestOfFew: "water"
        }
    }

    /// Whether the ten best are asked for, not how many there are.
    var isRanked: Bool { self == .bestOfMany || self == .bestOfFew }
}

/// The texts that are searched.
enum TextCorpus {
    /// The paragraphs of a file that begin at the margin, each with those below it that don't; made up ones where there is no
    /// such file. So many at most.
    static func texts(_ file: String, count: Int) throws -> [String] {
        guard FileManager.default.fileExists(atPath: file) else { return (0..<count).map(madeUp) }
        var texts: [String] = []
        var text: [UInt8] = []
        var isAfterBlank = true
        for line in try Data(contentsOf: URL(fileURLWithPath: file)).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        {
            if let first = line.first, isAfterBlank, first != UInt8(ascii: " "), !text.isEmpty {
                texts.append(String(decoding: text, as: UTF8.self))
                text = []
                if texts.count == count { return texts }
            }
            isAfterBlank = line.isEmpty
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        return texts + [String(decoding: text, as: UTF8.self)]
    }

    /// 50 words, of which the n-th most frequent one comes with a probability of about 1/n.
    private static func madeUp(_ number: Int) -> String {
        var random = SplitMix64(seed: UInt64(number))
        return (0..<50).map { _ in
            let rank = Int(pow(30_000, Double(random.next(below: 1 << 30)) / Double(1 << 30)))
            return frequent[rank] ?? "w\(String(rank, radix: 36))x"
        }.joined(separator: " ")
    }

    private static let frequent = [1: "the", 2: "of", 300: "water", 500: "river"]
}
