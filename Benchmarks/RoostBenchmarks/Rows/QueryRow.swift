/// Q1: questions to JSON documents of some 300 bytes, without and with indexes.
enum QueryRow {
    private static let batch = 1_000

    static func run(on stage: Stage) throws {
        let store = try stage.openQueries()
        let count = stage.corpus.count
        for start in stride(from: 0, to: count, by: batch) {
            try store.insert((start..<min(start + batch, count)).map { (id($0), json($0)) })
        }
        for question in Question.allCases where question.isWithoutIndexes {
            try ask(question, store, count, on: stage)
        }
        let building = try stage.measure { try store.makeIndexes() }
        stage.record(.queryIndexes, Double(count) / building.seconds)
        for question in Question.allCases where !question.isWithoutIndexes {
            try ask(question, store, count, on: stage)
        }
        try store.close()
    }

    private static func ask(
        _ question: Question, _ store: any QueryContender, _ count: Int, on stage: Stage
    ) throws {
        let expected = expectation(question, count)
        var asked = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                let answer = try store.ask(question)
                guard expected == nil || answer == expected else {
                    throw BenchmarkError(
                        "\(question.rawValue) is answered by \(answer), not \(expected.map { "\($0)" } ?? "")"
                    )
                }
                asked += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        stage.record(Metric(question), Double(asked) / measurement.seconds)
    }

    // MARK: Documents

    private static let cities = 200
    private static let days = 100

    /// With nine digits, so that IDs ascend.
    private static func id(_ index: Int) -> String {
        let digits = String(index)
        return "d" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    private static func day(_ index: Int) -> Int { (index * 7) % days }
    private static func amount(_ index: Int) -> Int { (index * 31) % 1_000 }

    private static func json(_ index: Int) -> String {
        let tags = (0..<3).map { "\"tag \((index * ($0 + 3)) % 50)\"" }.joined(separator: ",")
        return """
            {"city":"city \(index % cities)","day":\(day(index)),"amount":\(amount(index)),"tags":[\(tags)],\
            "title":"title \(index)","place":{"latitude":\(Double(index % 180) / 2),"longitude":\(index % 360)},\
            "text":"Swifts nest under eaves and sleep on the wing. Owls don't, they sit in the barn and wait for the night. \(index)"}
            """
    }

    /// What the answer must be, for those that are easily told.
    private static func expectation(_ question: Question, _ count: Int) -> Answer? {
        switch question {
        case .scan: Answer(rows: 1, last: Double((0..<count).count { amount($0) > 500 }))
        case .group, .groups: Answer(rows: min(cities, count))
        case .top: Answer(rows: min(10, count), last: 999)
        case .one: Answer(rows: 1, last: Double(day(Question.middle(of: count))))
        case .range: nil
        case .covering: nil
        case .count: Answer(rows: 1, last: Double((0..<count).count { 20..<80 ~= day($0) }))
        case .sum:
            Answer(
                rows: 1, last: Double((0..<count).reduce(0) { 20..<80 ~= day($1) ? $0 + amount($1) : $0 }))
        case .any, .offset: nil
        }
    }
}
