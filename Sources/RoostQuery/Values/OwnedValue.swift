import Fleece
import RoostBytes

/// A value that stays when the row it came from is gone.
enum OwnedValue {
    /// A scalar without bytes.
    case scalar(Value)
    case string([UInt8])
    case data([UInt8])
    /// A collection, as a Fleece body.
    case collection([UInt8])

    init(_ value: Value) {
        switch value {
        case .string(let text): self = .string(text.array)
        case .data(let bytes): self = .data(bytes.array)
        case .array, .dictionary, .decimal:
            var writer = FleeceWriter()
            writer.write(value)
            // A collection of a stored body can be written; should damage make it deeper than allowed, it is null.
            self = (try? writer.finish()).map(OwnedValue.collection) ?? .scalar(.null)
        default: self = .scalar(value)
        }
    }

    /// The value, whose bytes are kept in `arena`.
    func value(in arena: Arena) -> Value {
        switch self {
        case .scalar(let value): value
        case .string(let bytes): .string(arena.copy(bytes))
        case .data(let bytes): .data(arena.copy(bytes))
        case .collection(let body): Value(FleeceNode(root: arena.copy(body)))
        }
    }

    /// About how many bytes of memory it takes.
    var size: Int {
        switch self {
        case .scalar: 32
        case .string(let bytes), .data(let bytes), .collection(let bytes): 64 + bytes.count
        }
    }
}
