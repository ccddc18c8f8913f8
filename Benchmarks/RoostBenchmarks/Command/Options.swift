import Foundation

/// What the command line asks for.
struct Options: Codable, Sendable {
    var rows = Row.allCases
    /// Names in the catalogue; empty for all.
    var contenders: [String] = []
    var docs = 1_000_000
    var valueSize = 300
    /// What the stores' caches hold, in units of 2²⁰ bytes, where it is not what their configurations say.
    var cacheMegabytes: Int?
    /// In units of 2²⁰ bytes.
    var blobMegabytes = 256
    /// The file of JSON lines that is imported; `nil` for one that is made.
    var importFile: String?
    /// The file of texts that are searched.
    var textFile = ".build/gcide.txt"
    var seed: UInt64 = 1
    var rounds = 3
    /// How long the rows that are bounded by time go on.
    var seconds = 2.0
    /// No round is started that would end later than this many seconds after the start.
    var limit = Double.infinity
    /// Numbers of documents to compare, instead of one table.
    var scale: [Int] = []
    var jsonFile: String?
    /// Where the table, the JSON and the plots go.
    var results: String?
    var directory = ".build/roost-bench"
    var wantsHelp = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        let choosesRows = arguments.contains("--rows")
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick":
                (docs, seconds, limit) = (100_000, 0.3, 160)
                if !choosesRows {
                    let slow = Row.ofCrypto.union(Row.ofBlobs).union(Row.ofQueries).union(Row.ofServer)
                        .union(Row.ofReplication).union(Row.ofChannels).union([.steadyState])
                    rows.removeAll(where: slow.contains)
                }
            case "--help", "-h":
                wantsHelp = true
            default:
                guard let value = rest.popFirst() else {
                    throw BenchmarkError("\(argument) is unknown or lacks its value; see --help")
                }
                try set(argument, value)
            }
        }
    }

    private mutating func set(_ option: String, _ value: String) throws {
        switch option {
        case "--rows": rows = try Self.rows(value)
        case "--contenders": contenders = Self.list(value)
        case "--docs": docs = try Self.number(option, value, in: 1_000...1_000_000_000)
        case "--value-size": valueSize = try Self.number(option, value, in: 8...1_000_000)
        case "--cache": cacheMegabytes = try Self.number(option, value, in: 1...1_000_000)
        case "--import": importFile = value
        case "--text": textFile = value
        case "--blob-size": blobMegabytes = try Self.number(option, value, in: 1...1_000_000)
        case "--seed": seed = UInt64(try Self.number(option, value, in: 0...Int.max))
        case "--rounds": rounds = try Self.number(option, value, in: 1...1_000)
        case "--seconds": seconds = Double(try Self.number(option, value, in: 1...3_600))
        case "--scale":
            scale = try Self.list(value).map { try Self.number(option, $0, in: 1_000...1_000_000_000) }
        case "--json": jsonFile = value
        case "--results": results = value
        case "--directory": directory = value
        default: throw BenchmarkError("\(option) is unknown; see --help")
        }
    }

    private static func number(_ option: String, _ value: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value.replacingOccurrences(of: "_", with: "")), range.contains(number) else {
            throw BenchmarkError("\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func rows(_ value: String) throws -> [Row] {
        let wanted = try list(value).map { name in
            guard let row = Row(rawValue: name) else {
                let names = Row.allCases.map(\.rawValue).joined(separator: ", ")
                throw BenchmarkError("no row is called \(name); there are \(names)")
            }
            return row
        }
        return Row.allCases.filter(wanted.contains)
    }

    private static func list(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
