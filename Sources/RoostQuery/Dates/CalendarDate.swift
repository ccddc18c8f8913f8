import Fleece
import Foundation

/// A point of time as the calendar and a clock show it.
struct CalendarDate {
    var year: Int
    var month: Int
    var day: Int
    /// Milliseconds since midnight.
    var millisecond: Int

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// What a clock shows that is `offset` seconds ahead of UTC.
    init(milliseconds: Int64, offset: Int) {
        let local = milliseconds + Int64(offset) * 1000
        let perDay = Self.millisecondsPerDay
        let days = (local >= 0 ? local : local - perDay + 1) / perDay
        (year, month, day) = ISO8601.civil(daysSince1970: Int(days))
        millisecond = Int(local - days * perDay)
    }

    /// The point of time, for a clock that is `offset` seconds ahead of UTC.
    func milliseconds(offset: Int) -> Int64 {
        let days = ISO8601.days(year: year, month: month, day: day)
        return Int64(days) * Self.millisecondsPerDay + Int64(millisecond) - Int64(offset) * 1000
    }

    /// Moves by months; a day that the month does not have becomes its last.
    mutating func add(months: Int) {
        let total = year * 12 + month - 1 + months
        year = total >= 0 ? total / 12 : (total - 11) / 12
        month = total - year * 12 + 1
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        day = min(day, lengths[month - 1])
    }
}

/// A unit of time.
enum DatePart: String, CaseIterable {
    case millisecond, second, minute, hour, day, week, month, quarter, year, decade, century, millennium

    /// How long it lasts, in milliseconds; `nil` where that differs.
    var milliseconds: Int64? {
        switch self {
        case .millisecond: 1
        case .second: 1000
        case .minute: 60_000
        case .hour: 3_600_000
        case .day: 86_400_000
        case .week: 7 * 86_400_000
        default: nil
        }
    }

    /// How many months it lasts, for what is longer than a week.
    var months: Int {
        switch self {
        case .quarter: 3
        case .year: 12
        case .decade: 120
        case .century: 1200
        case .millennium: 12_000
        default: 1
        }
    }
}

/// Which parts of a date are written, told by an example such as `1111-11-11T11:11:11Z`.
struct DateFormat {
    private let hasDate: Bool
    private let separator: String
    private let hasTime: Bool
    private let hasSeconds: Bool
    private let hasFraction: Bool?
    private let hasZone: Bool

    /// Date, time to the second, or to the millisecond where it has any, and zone.
    static let standard = DateFormat(
        hasDate: true, separator: "T", hasTime: true, hasSeconds: true, hasFraction: nil, hasZone: true)

    private init(
        hasDate: Bool, separator: String, hasTime: Bool, hasSeconds: Bool, hasFraction: Bool?, hasZone: Bool
    ) {
        self.hasDate = hasDate
        self.separator = separator
        self.hasTime = hasTime
        self.hasSeconds = hasSeconds
        self.hasFraction = hasFraction
        self.hasZone = hasZone
    }

    /// The format of `example`; `nil` when that is no date or time.
    init?(example: String) {
        let text = Array(example.utf8)
        let hasDate = text.count >= 10 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
        let time = hasDate ? text.dropFirst(11) : text[...]
        let hasTime = time.count >= 5 && time[time.startIndex + 2] == UInt8(ascii: ":")
        guard hasDate || hasTime else { return nil }
        let colons = time.prefix(6).count { $0 == UInt8(ascii: ":") }
        let zone = time.dropFirst(5)
        self.init(
            hasDate: hasDate, separator: text.count > 10 && text[10] == UInt8(ascii: " ") ? " " : "T",
            hasTime: hasTime,
            hasSeconds: colons == 2, hasFraction: time.contains(UInt8(ascii: ".")),
            hasZone: zone.contains { "Zz+-".utf8.contains($0) })
    }

    /// The text of a point of time on a clock that is `offset` seconds ahead of UTC; `nil` outside of the years 0 to 9999.
    func text(_ milliseconds: Int64, offset: Int) -> String? {
        let date = CalendarDate(milliseconds: milliseconds, offset: offset)
        guard 0...9999 ~= date.year else { return nil }
        var text = ""
        func digits(_ number: Int, _ count: Int) -> String {
            let decimal = "\(number)"
            return String(repeating: "0", count: max(0, count - decimal.utf8.count)) + decimal
        }
        if hasDate { text = "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))" }
        guard hasTime else { return text }
        if hasDate { text += separator }
        let seconds = date.millisecond / 1000
        text += "\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2))"
        if hasSeconds { text += ":\(digits(seconds % 60, 2))" }
        let fraction = date.millisecond % 1000
        if hasFraction ?? (fraction != 0) { text += ".\(digits(fraction, 3))" }
        if hasZone {
            let minutes = abs(offset) / 60
            text +=
                offset == 0
                ? "Z" : "\(offset < 0 ? "-" : "+")\(digits(minutes / 60, 2)):\(digits(minutes % 60, 2))"
        }
        return text
    }
}
