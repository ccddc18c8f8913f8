import Fleece
import Roost
import RoostBytes
import RoostIndex

/// A value that `_sum` adds.
enum Summand {
    case number(ExactNumber)
    case array([Summand])
    case object([ByteKey: Summand])

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
    let readsKeys = false
    /// The sum for as long as all values are whole numbers and it fits.
    private var whole: Int64 = 0
    private var isEmpty = true
    /// The sum from the first value on that is something else.
    private var total: Summand?

    mutating func add(_ row: IndexRowView) throws { try add(ViewPayload.parts(row.payload).value) }

    /// Adds a value, given as its Fleece body.
    mutating func add(_ body: ByteView) throws {
        let node = FleeceNode(root: body)
        if total == nil, case .integer(let number) = node.content {
            let (sum, overflow) = whole.addingReportingOverflow(number)
            if !overflow {
                (whole, isEmpty) = (sum, false)
                return
            }
        }
        // Numbers need no document.
        let summand =
            try ExactNumber(node).map { .number($0) } ?? Summand(FleeceDocument(trusting: body.array).root)
        let before = total ?? (isEmpty ? nil : .number(.whole(whole)))
        total = try before?.adding(summand) ?? summand
    }

    /// The Fleece body of the sum; of 0 where nothing was added.
    func value() throws -> [UInt8] {
        guard let total else { return try ViewCore.body(of: Int(whole)) }
        var writer = FleeceWriter()
        total.write(to: &writer)
        return try writer.finish()
    }
}
