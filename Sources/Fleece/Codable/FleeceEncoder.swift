/// How dates are stored.
public enum FleeceDateStrategy: Sendable {
    /// As a string like `2026-03-01T12:34:56.789Z`: UTC, with milliseconds, and with more digits where it takes them for
    /// the very same date to be read. The strings sort as the dates do, but for dates within the same millisecond.
    ///
    /// Dates before the year 0 and after 9999 are refused.
    case iso8601
    /// As a number of seconds since 1970-01-01T00:00:00Z.
    case secondsSince1970
    /// As a number of milliseconds since 1970-01-01T00:00:00Z.
    case millisecondsSince1970
}

/// How `Data` is stored.
public enum FleeceDataStrategy: Sendable {
    /// As the format's own data. In JSON text it appears as Base64.
    case data
    /// As a Base64 string.
    case base64
}

/// Turns `Encodable` values into Fleece bodies.
///
/// Scalars and strings go straight into the body; collections follow when they are complete. Containers may be
/// filled in any order, also nested ones after their parents. `Date` and `Data` follow their strategies, a `URL`
/// becomes a string, a ``FleeceValue`` is copied. Whole floating-point numbers stay floating point.
///
/// A `Decimal` becomes a number: an integer if it is whole and has 64 bits, otherwise a floating-point number if that reads
/// as the same decimal, as it does with up to 15 digits. What has more digits becomes a dictionary with a string of them,
/// `{"@type":"decimal","value":"0.12345678901234567890"}`, which queries compare as a number. Nothing is rounded.
public struct FleeceEncoder {
    /// How dates are stored; ``FleeceDateStrategy/iso8601`` unless set.
    public var dateStrategy = FleeceDateStrategy.iso8601

    /// How `Data` is stored; ``FleeceDataStrategy/data`` unless set.
    public var dataStrategy = FleeceDataStrategy.data

    /// What `encode(to:)` of the values finds in `encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// An encoder with the usual strategies.
    public init() {}

    /// Encodes `value` as a body with its own keys.
    ///
    /// - Throws: `EncodingError` for a number that is not finite, ``FleeceError`` for too deep nesting or too large
    ///   a body, and whatever the value's `encode(to:)` throws.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        var writer = FleeceWriter()
        try encode(value, to: &writer)
        return try writer.finish()
    }

    /// Encodes `value` as the next value of `writer`, with its shared keys.
    ///
    /// - Throws: As ``encode(_:)``. The body begun is lost: call ``FleeceWriter/removeAll()``.
    public func encode(_ value: some Encodable, to writer: inout FleeceWriter) throws {
        let state = EncodingState(self)
        try writer.append { output, depth in
            try state.lend(&output) {
                try ValueEncoder(state, path: .root, depth: depth).item(encoding: value)
            }
        }
    }

    /// Encodes `value`, an object, without the members whose keys `isApart` accepts; those become a dictionary in `other`.
    ///
    /// - Parameter isApart: Called with the UTF-8 of each of the object's own keys.
    /// - Returns: Whether there were such members; without them nothing is written to `other`. What is no object is
    ///   written as it is.
    /// - Throws: As ``encode(_:)``. Both bodies begun are lost: call ``FleeceWriter/removeAll()``.
    package func encode(
        _ value: some Encodable, to writer: inout FleeceWriter,
        separating isApart: @escaping (UnsafeRawBufferPointer) -> Bool, into other: inout FleeceWriter
    ) throws -> Bool {
        let (state, otherState) = (EncodingState(self), EncodingState(self))
        var hasOthers = false
        try writer.append { output, depth in
            var item = Item.null
            try other.append { otherOutput, otherDepth in
                try state.lend(&output) {
                    try otherState.lend(&otherOutput) {
                        let others = ValueEncoder(otherState, path: .root, depth: otherDepth)
                        let encoder = unsafe ValueEncoder(
                            state, path: .root, depth: depth, separating: isApart, into: others)
                        item = try encoder.item(encoding: value)
                        hasOthers = others.count > 0
                        return hasOthers ? try others.finish() : nil
                    }
                }
            }
            return item
        }
        return hasOthers
    }
}

/// What all encoders of one call share.
final class EncodingState {
    let dateStrategy: FleeceDateStrategy
    let dataStrategy: FleeceDataStrategy
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// What the values are written to. Only the task that encodes changes it, one value after another: checking at run time
    /// that no two changes overlap takes longer than many of them.
    var output: FleeceOutput {
        @inline(__always) _read { yield unsafe uncheckedOutput }
        @inline(__always) _modify { yield unsafe &uncheckedOutput }
    }
    @exclusivity(unchecked) private var uncheckedOutput = FleeceOutput()

    init(_ encoder: FleeceEncoder) {
        dateStrategy = encoder.dateStrategy
        dataStrategy = encoder.dataStrategy
        userInfo = encoder.userInfo
    }

    /// Calls `body`, which writes to `output`: it is the state's meanwhile, and the state's empty one is in its place.
    func lend<R>(_ output: inout FleeceOutput, _ body: () throws -> R) rethrows -> R {
        swap(&output, &self.output)
        defer { swap(&output, &self.output) }
        return try body()
    }
}

// MARK: - CodingPath

/// How a value that is being decoded was reached from the one around it.
enum CodingStep {
    /// It is the root.
    case none
    case key(any CodingKey)
    case index(Int)

    var keys: [any CodingKey] {
        switch self {
        case .none: []
        case .key(let key): [key]
        case .index(let index): [PlainKey(intValue: index)]
        }
    }
}

/// The way to a value that is being encoded, as a list from the value to the root: nothing is copied on the way
/// down, and the array that errors show is built only when one occurs.
indirect enum CodingPath {
    case root
    case key(any CodingKey, of: CodingPath)
    case index(Int, of: CodingPath)

    var keys: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let key, let parent): parent.keys + [key]
        case .index(let index, let parent): parent.keys + [PlainKey(intValue: index)]
        }
    }
}

/// A coding key that is nothing but its string or index.
struct PlainKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = PlainKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
