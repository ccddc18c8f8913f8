import Fleece

/// What `_stats` makes of values.
enum Statistics {
    case one(Summary)
    /// Of values that are arrays: element by element.
    case array([Statistics])

    struct Summary {
        let sum: ExactNumber
        let count: ExactNumber
        let least: ExactNumber
        let greatest: ExactNumber
        let squares: ExactNumber
    }

    /// The statistics of one or more values, or of statistics of them.
    static func combined(_ values: [FleeceValue]) throws -> [UInt8] {
        var writer = FleeceWriter()
        guard let first = values.first else {
            writer.writeNull()
            return try writer.finish()
        }
        let total = try values.dropFirst().reduce(Statistics(first)) { try $0.adding(Statistics($1)) }
        total.write(to: &writer)
        return try writer.finish()
    }

    private init(_ value: FleeceValue) throws {
        if let number = ExactNumber(value) {
            self = .one(
                Summary(
                    sum: number, count: .whole(1), least: number, greatest: number, squares: number * number))
        } else if let elements = value.array {
            self = .array(try elements.map { try Statistics($0) })
        } else if let sum = ExactNumber(value["sum"]), let count = ExactNumber(value["count"]),
            let least = ExactNumber(value["min"]), let greatest = ExactNumber(value["max"]),
            let squares = ExactNumber(value["sumsqr"])
        {
            self = .one(
                Summary(sum: sum, count: count, least: least, greatest: greatest, squares: squares))
        } else {
            throw ViewError(
                .notReducible,
                "_stats takes numbers, objects of sum, count, min, max and sumsqr, and arrays of them, but a value is "
                    + "\(value). Emit numbers.")
        }
    }

    private func adding(_ other: Statistics) throws -> Statistics {
        switch (self, other) {
        case (.one(let a), .one(let b)):
            return .one(
                Summary(
                    sum: a.sum + b.sum, count: a.count + b.count,
                    least: b.least < a.least ? b.least : a.least,
                    greatest: a.greatest < b.greatest ? b.greatest : a.greatest,
                    squares: a.squares + b.squares))
        case (.array(let a), .array(let b)) where a.count == b.count:
            return .array(try zip(a, b).map { try $0.adding($1) })
        default:
            throw ViewError(
                .notReducible,
                "_stats takes arrays only where all values are arrays of one length. Emit such.")
        }
    }

    private func write(to writer: inout FleeceWriter) {
        switch self {
        case .one(let summary):
            writer.beginDictionary()
            for (name, number) in [
                ("sum", summary.sum), ("count", summary.count), ("min", summary.least),
                ("max", summary.greatest), ("sumsqr", summary.squares),
            ] {
                writer.key(name)
                number.write(to: &writer)
            }
            writer.endDictionary()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        }
    }
}
