import Fleece

/// JSON as a plain tree: the simplest thing to compare bodies with.
indirect enum Model: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case array([Model])
    case dictionary([String: Model])

    /// What a value reads as, through the public accessors.
    init(_ value: FleeceValue) {
        switch value.kind {
        case .undefined, .null: self = .null
        case .bool: self = .bool(value.bool!)
        case .integer: self = value.int64.map(Model.integer) ?? .unsigned(value.uint64!)
        case .double: self = .double(value.double!)
        case .string: self = .string(value.string!)
        case .data: self = .string("data")
        case .array: self = .array(value.array!.map(Model.init))
        case .dictionary:
            self = .dictionary(
                Dictionary(uniqueKeysWithValues: value.dictionary!.map { ($0.key, Model($0.value)) }))
        }
    }

    /// Something random, nested at most `depth` deep.
    init(random: inout Random, depth: Int) {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 8), using: &random) {
        case 0: self = .null
        case 1: self = .bool(.random(using: &random))
        case 2: self = .integer(.random(in: -3000...3000, using: &random))
        case 3: self = .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random))
        case 4: self = .unsigned(.random(in: (1 << 63)...UInt64.max, using: &random))
        case 5: self = .double(Model.randomDouble(&random))
        case 6, 7: self = .string(Model.randomString(&random))
        case 8, 9:
            let count = Int.random(in: 0..<6, using: &random)
            self = .array((0..<count).map { _ in Model(random: &random, depth: depth - 1) })
        default:
            let count =
                Int.random(in: 0..<40, using: &random) < 38 ? Int.random(in: 0..<6, using: &random) : 60
            let pairs = (0..<count).map { _ in
                (Model.randomString(&random), Model(random: &random, depth: depth - 1))
            }
            self = .dictionary(Dictionary(pairs) { $1 })
        }
    }

    private static func randomDouble(_ random: inout Random) -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1000
        case 1: return Double(Int.random(in: -1000...1000, using: &random))
        case 2: return Double(Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &random)))
        default:
            let double = Double(bitPattern: random.next())
            return double.isFinite ? double : -0.0
        }
    }

    private static let letters = Array("abcdefg_-0 \"\\/\n\t\u{0}\u{1F}\u{7F}äßж漢🐦\u{10FFFF}")

    static func randomString(_ random: inout Random) -> String {
        let length = [0, 1, 2, 3, 7, 8, 9, 14, 15, 16, 17, 40].randomElement(using: &random)!
        if Bool.random(using: &random) {
            return String(
                repeating: ["ab", "key", "x"].randomElement(using: &random)!, count: length / 3 + 1)
        }
        return String((0..<length).map { _ in letters.randomElement(using: &random)! })
    }

    /// The model as JSON text, with spaces and escapes at random.
    func json(_ random: inout Random) -> String {
        let space = ["", "", " ", "\n\t", "\r\n  "].randomElement(using: &random)!
        switch self {
        case .null: return space + "null"
        case .bool(let bool): return space + "\(bool)"
        case .integer(let integer): return space + "\(integer)"
        case .unsigned(let integer): return space + "\(integer)"
        case .double(let double): return space + double.description
        case .string(let string): return space + Self.quoted(string, &random)
        case .array(let elements):
            return "[" + elements.map { $0.json(&random) }.joined(separator: space + ",") + space + "]"
        case .dictionary(let pairs):
            let members = pairs.map { key, value in
                space + Self.quoted(key, &random) + space + ":" + value.json(&random)
            }
            return "{" + members.joined(separator: ",") + space + "}"
        }
    }

    private static func quoted(_ string: String, _ random: inout Random) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            if scalar == "\"" || scalar == "\\" || scalar.value < 0x20
                || Int.random(in: 0..<10, using: &random) == 0
            {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: .random(using: &random))
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
