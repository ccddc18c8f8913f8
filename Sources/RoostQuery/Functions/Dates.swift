import Fleece
import Foundation

/// Functions of dates: of texts in ISO 8601 and of milliseconds since 1970. A text without a zone is in local time.
enum Dates {
    /// A text's point of time, and how many seconds its clock is ahead of UTC.
    struct Moment {
        var milliseconds: Int64
        var offset: Int
    }

    static func evaluation(_ function: Function, _ values: [Evaluation]) -> Evaluation? {
        switch function {
        case .millisToStr: format(values) { frame, moment, _ in Self.offset(at: moment, frame.timeZone) }
        case .millisToUTC: format(values) { _, _, _ in 0 }
        case .millisToTZ: format(values, hasZone: true) { _, _, zone in zone }
        case .strToUTC: format(values, fromText: true) { _, _, _ in 0 }
        case .strToTZ: format(values, hasZone: true, fromText: true) { _, _, zone in zone }
        case .strToMillis:
            Arguments.one(values[0]) { value, frame in
                parse(value, frame).map { .integer($0.milliseconds) } ?? .null
            }
        case .dateDiffStr: difference(values) { parse($0, $1) }
        case .dateDiffMillis: difference(values) { value, _ in moment(value) }
        case .dateAddMillis:
            add(values) { value, _ in
                moment(value)
            } result: { moment, _, _ in
                .integer(moment.milliseconds)
            }
        case .datePart:
            ofPart(values, of: DateField.init(named:)) { field, clock, _ in
                .integer(clock.date.value(of: field))
            }
        case .dateTrunc: ofPart(values, of: DatePart.init(named:), body: truncated)
        case .castDate:
            Arguments.one(values[0]) { value, frame in text(of: value, DateFormat.date, frame) }
        case .castTimestamp:
            Arguments.one(values[0]) { value, frame in text(of: value, .standard, frame) }
        case .dateAddStr:
            add(values) {
                parse($0, $1)
            } result: { moment, example, frame in
                let format = example.map { DateFormat($0) } ?? .standard
                return format.text(moment.milliseconds, offset: moment.offset).map(frame.string) ?? .null
            }
        default: nil
        }
    }

    // MARK: Reading

    private static let limit: Double = 1e15

    /// Milliseconds since 1970 as a point of time.
    private static func moment(_ value: Value) -> Moment? {
        guard let number = value.double, abs(number) < limit else { return nil }
        return Moment(milliseconds: Int64(number), offset: 0)
    }

    /// The point of time that a text names.
    private static func parse(_ value: Value, _ frame: Frame) -> Moment? {
        guard let text = value.string, let milliseconds = utcMilliseconds(text) else { return nil }
        guard let offset = zone(of: text) else {
            // What was taken for UTC is local time.
            let guess = offset(at: milliseconds, frame.timeZone)
            let offset = offset(at: milliseconds - Int64(guess) * 1000, frame.timeZone)
            return Moment(milliseconds: milliseconds - Int64(offset) * 1000, offset: offset)
        }
        return Moment(milliseconds: milliseconds, offset: offset)
    }

    /// The point of time that a text names, which is taken for UTC where it has no zone.
    private static func utcMilliseconds(_ text: String) -> Int64? {
        guard let seconds = ISO8601.secondsSince2001(text.utf8) else { return nil }
        return Int64((seconds * 1000).rounded()) + ISO8601.secondsFrom1970To2001 * 1000
    }

    /// The seconds that a text's zone is ahead of UTC; `nil` when it has none.
    private static func zone(of text: String) -> Int? {
        let time = Array(text.utf8.dropFirst(11))
        if time.last == UInt8(ascii: "Z") { return 0 }
        guard let sign = time.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) else {
            return nil
        }
        let digits = time[(sign + 1)...].filter { $0 != UInt8(ascii: ":") }.map { Int($0) - 48 }
        guard digits.count == 4 else { return nil }
        let seconds = ((digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3]) * 60
        return time[sign] == UInt8(ascii: "-") ? -seconds : seconds
    }

    private static func offset(at milliseconds: Int64, _ zone: TimeZone) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }

    // MARK: Parts

    /// What a clock shows: of a text its own, without regard to where it is; of milliseconds that of UTC.
    private struct Clock {
        var date: CalendarDate
        /// The seconds that it is ahead of UTC; `nil` for a text that doesn't say.
        let offset: Int?
        /// The text that was read.
        let text: String?

        init?(_ value: Value) {
            text = value.string
            guard let text else {
                guard let moment = Dates.moment(value) else { return nil }
                date = CalendarDate(milliseconds: moment.milliseconds, offset: 0)
                offset = 0
                return
            }
            guard let milliseconds = Dates.utcMilliseconds(text) else { return nil }
            offset = Dates.zone(of: text)
            date = CalendarDate(milliseconds: milliseconds, offset: offset ?? 0)
        }

        /// The text of it, with a zone where there is one.
        func text(_ format: DateFormat) -> String? {
            let format = offset == nil ? format.withoutZone : format
            return format.text(date.milliseconds(offset: offset ?? 0), offset: offset ?? 0)
        }
    }

    /// A function of a part of a date and of the date, in either order.
    private static func ofPart<Part: Sendable>(
        _ values: [Evaluation], of part: @escaping @Sendable (String) -> Part?,
        body: @escaping @Sendable (Part, Clock, Frame) -> Value
    ) -> Evaluation {
        Arguments.two(values) { first, second, frame in
            for (name, when) in [(first, second), (second, first)] {
                if let name = name.text, name.count <= 20, let part = part(name.string) {
                    return Clock(when).map { body(part, $0, frame) } ?? .null
                }
            }
            return .null
        }
    }

    /// The beginning of a part of time, as what the date was given as.
    private static func truncated(_ part: DatePart, _ clock: Clock, _ frame: Frame) -> Value {
        var clock = clock
        clock.date.truncate(to: part)
        guard let text = clock.text else { return .integer(clock.date.milliseconds(offset: 0)) }
        return clock.text(DateFormat(text)).map(frame.string) ?? .null
    }

    private static func text(of value: Value, _ format: DateFormat, _ frame: Frame) -> Value {
        Clock(value)?.text(format).map(frame.string) ?? .null
    }

    // MARK: Writing

    /// The text of a point of time: (time, minutes of the zone where there are, format?).
    private static func format(
        _ values: [Evaluation], hasZone: Bool = false, fromText: Bool = false,
        offset: @escaping @Sendable (Frame, Int64, Int) -> Int
    ) -> Evaluation {
        { frame in
            let arguments = values.map { $0(frame) }
            if arguments.contains(where: \.isMissing) { return .missing }
            guard let moment = fromText ? parse(arguments[0], frame) : moment(arguments[0]) else {
                return .null
            }
            var minutes = 0
            if hasZone {
                guard let given = arguments[1].double, abs(given) <= 1440 else { return .null }
                minutes = Int(given)
            }
            var format = DateFormat.standard
            if let example = arguments.dropFirst(hasZone ? 2 : 1).first {
                guard let text = example.string else { return .null }
                format = DateFormat(text)
            }
            let seconds = offset(frame, moment.milliseconds, minutes * 60)
            return format.text(moment.milliseconds, offset: seconds).map(frame.string) ?? .null
        }
    }

    // MARK: Counting

    private static func part(_ value: Value) -> DatePart? {
        value.string.flatMap(DatePart.init(named:))
    }

    /// How many units lie between two points of time, by the clocks that they are of, the second taken from the first.
    private static func difference(
        _ values: [Evaluation], _ read: @escaping @Sendable (Value, Frame) -> Moment?
    ) -> Evaluation {
        { frame in
            let arguments = values.map { $0(frame) }
            if arguments.contains(where: \.isMissing) { return .missing }
            guard let first = read(arguments[0], frame), let second = read(arguments[1], frame),
                let part = part(arguments[2])
            else { return .null }
            let date = CalendarDate(milliseconds: first.milliseconds, offset: first.offset)
            let other = CalendarDate(milliseconds: second.milliseconds, offset: second.offset)
            return .integer(date.count(of: part, since: other))
        }
    }

    /// A point of time moved by a number of units: (time, number, part, format?).
    private static func add(
        _ values: [Evaluation], _ read: @escaping @Sendable (Value, Frame) -> Moment?,
        result: @escaping @Sendable (Moment, String?, Frame) -> Value
    ) -> Evaluation {
        { frame in
            let arguments = values.map { $0(frame) }
            if arguments.contains(where: \.isMissing) { return .missing }
            guard var moment = read(arguments[0], frame), let count = arguments[1].double, abs(count) < limit,
                let part = part(arguments[2])
            else { return .null }
            if let length = part.milliseconds {
                let moved = Double(moment.milliseconds) + count.rounded(.towardZero) * Double(length)
                guard abs(moved) < limit else { return .null }
                moment.milliseconds += Int64(count) * length
            } else {
                var date = CalendarDate(milliseconds: moment.milliseconds, offset: moment.offset)
                guard abs(count) * Double(part.months) < 200_000 else { return .null }
                date.add(months: Int(count) * part.months)
                moment.milliseconds = date.milliseconds(offset: moment.offset)
            }
            return result(moment, arguments.count > 3 ? arguments[3].string ?? "" : nil, frame)
        }
    }
}
