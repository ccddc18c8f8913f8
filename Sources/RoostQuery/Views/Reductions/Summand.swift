import Fleece
import Roost
import RoostIndex

/// A value that `_sum` adds.
enum Summand {
    case number(ExactNumber)
    case array([Summand])
    case object([ByteKey: Summand])

    static func sum(_ values: [FleeceValue]) throws -> [UInt8] {
        var sum = Sum()
        for value in values { try sum.add(Summand(value)) }
        return try sum.value()
    }

    init(_ value: FleeceValue) throws {
        if let number = ExactNumber(value) {
            self = .number(number)
            return
        }
        switch value.kind {
        case .array: self = .array(try (value.array ?? .empty).map { try Summand($0) })
        case .dictionary:
            var members: [ByteKey: Summand] = [:]
            for member in value.dictionary ?? .empty {
                members[ByteKey(member.key)] = try Summand(member.value)
            }
            self = .object(members)
        default:
            throw ViewError(
                .notReducible,
                "_sum adds numbers, and arrays and objects of numbers, but a value is \(value). Emit numbers."
            )
        }
    }

    func adding(_ other: Summand) throws -> Summand {
        switch (self, other) {
        case (.number(let a), .number(let b)): return .number(a + b)
        case (.array(let a), .array(let b)):
            return .array(
                try (0..<max(a.count, b.count)).map { index in
                    guard index < a.count else { return b[index] }
                    return index < b.count ? try a[index].adding(b[index]) : a[index]
                })
        case (.object(let a), .object(let b)): return .object(try a.merging(b) { try $0.adding($1) })
        case (.array, .number): return try adding(.array([other]))
        case (.number, .array): return try Summand.array([self]).adding(other)
        case (.object, _), (_, .object):
            throw ViewError(
                .notReducible, "_sum can't add an object to something else. Emit values of one kind.")
        }
    }

    func write(to writer: inout FleeceWriter) {
        switch self {
        case .number(let number): number.write(to: &writer)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginDictionary()
            for (name, member) in members {
                writer.key(name.text)
                member.write(to: &writer)
            }
            writer.endDictionary()
        }
    }
}

/// Adds values up.
struct Sum: IndexReducer {
    private var total: Summand?

    mutating func add(_ summand: Summand) throws { total = try total?.adding(summand) ?? summand }

    mutating func add(_ row: IndexRowView) throws {
        let value = ViewPayload.parts(row.payload).value
        // Most values are numbers, which need no document.
        if let number = ExactNumber(FleeceNode(root: value)) {
            try add(.number(number))
        } else {
            try add(Summand(FleeceDocument(trusting: value.array).root))
        }
    }

    /// The Fleece body of the sum; of 0 where nothing was added.
    func value() throws -> [UInt8] {
        var writer = FleeceWriter()
        (total ?? .number(.whole(0))).write(to: &writer)
        return try writer.finish()
    }
}
