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

    /// Moves by months. A day that the month does not have is one of the next month, as in LiteCore and Couchbase Server.
    mutating func add(months: Int) {
        let total = year * 12 + month - 1 + months
        year = total >= 0 ? total / 12 : (total - 11) / 12
        month = total - year * 12 + 1
    }

    /// The number of the day, counted from 1970-01-01.
    private var dayNumber: Int { ISO8601.days(year: year, month: month, day: day) }

    /// The day of the week, from 0 for Monday.
    private var weekday: Int { ((dayNumber + 3) % 7 + 7) % 7 }

    /// The year and number of the week of ISO 8601, which belongs to the year that its Thursday is in.
    private var isoWeek: (year: Int, week: Int) {
        let thursday = dayNumber - weekday + 3
        let year = ISO8601.civil(daysSince1970: thursday).year
        return (year, (thursday - ISO8601.days(year: year, month: 1, day: 1)) / 7 + 1)
    }

    /// A part of it as a number.
    func value(of field: DateField) -> Int64 {
        let number =
            switch field {
            case .year: year
            case .quarter: (month - 1) / 3 + 1
            case .month: month
            case .week: isoWeek.week
            case .day: day
            case .hour: millisecond / 3_600_000
            case .minute: millisecond / 60_000 % 60
            case .second: millisecond / 1000 % 60
            case .millisecond: millisecond % 1000
            case .decade: year / 10
            case .century: (year + 99) / 100
            case .millennium: (year + 999) / 1000
            case .dayOfYear: dayNumber - ISO8601.days(year: year, month: 1, day: 1) + 1
            case .dayOfWeek: (weekday + 1) % 7
            case .isoDayOfWeek: weekday + 1
            case .isoYear: isoWeek.year
            }
        return Int64(number)
    }

    /// Goes back to the beginning of the part of time that it is in.
    mutating func truncate(to part: DatePart) {
        switch part {
        case .millisecond, .second, .minute, .hour: millisecond -= millisecond % Int(part.milliseconds ?? 1)
        case .day: millisecond = 0
        case .week:
            (year, month, day) = ISO8601.civil(daysSince1970: dayNumber - weekday)
            millisecond = 0
        case .month, .quarter, .year, .decade, .century, .millennium:
            let total = year * 12 + month - 1
            let first = total - (total % part.months + part.months) % part.months
            (year, month, day, millisecond) = (first / 12, first % 12 + 1, 1, 0)
        }
    }

    /// How many times a unit begins between another date and this one: a second after 23:59:59 it is a day later. So count
    /// Couchbase Server and LiteCore.
    func count(of part: DatePart, since other: CalendarDate) -> Int64 {
        func days(_ date: CalendarDate) -> Int {
            ISO8601.days(year: date.year, month: date.month, day: date.day)
        }
        let dayCount = Int64(days(self) - days(other))
        func clock(_ length: Int64) -> Int64 {
            dayCount * (Self.millisecondsPerDay / length) + Int64(millisecond) / length
                - Int64(other.millisecond) / length
        }
        return switch part {
        case .millisecond, .second, .minute, .hour: clock(part.milliseconds ?? 1)
        case .day: dayCount
        case .week: dayCount / 7
        case .month: Int64((year - other.year) * 12 + month - other.month)
        case .quarter: Int64((year - other.year) * 4 + (month - 1) / 3 - (other.month - 1) / 3)
        case .year, .decade, .century, .millennium: Int64((year - other.year) / (part.months / 12))
        }
    }
}

/// A part of a date that is a number.
enum DateField: String, CaseIterable, Sendable {
    case year, quarter, month, week, day, hour, minute, second, millisecond, decade, century, millennium
    case dayOfYear = "doy", dayOfWeek = "dow", isoDayOfWeek = "isodow", isoYear = "isoyear"

    private static let aliases: [String: DateField] = [
        "dayofyear": .dayOfYear, "dayofweek": .dayOfWeek, "weekday": .dayOfWeek, "iso_dow": .isoDayOfWeek,
        "iso_year": .isoYear, "iso_week": .week, "isoweek": .week, "dayofmonth": .day,
    ]

    /// The part of that name, in letters of any case and also in the plural.
    init?(named name: String) {
        let name = name.lowercased()
        guard
            let field = DateField(rawValue: name) ?? Self.aliases[name]
                ?? (name.hasSuffix("s") ? DateField(rawValue: "\(name.dropLast())") : nil)
        else { return nil }
        self = field
    }
}

/// A unit of time.
enum DatePart: String, CaseIterable {
    case millisecond, second, minute, hour, day, week, month, quarter, year, decade, century, millennium

    /// The unit of that name, in letters of any case.
    init?(named name: String) { self.init(rawValue: name.lowercased()) }

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

// MARK: - Date format

/// Which parts of a date are written, told by an example such as `1111-11-11T11:11:11Z` or by tokens such as `%FT%T%z`.
///
/// The language is LiteCore's: date, time and zone, each whole or omitted, in this order. Milliseconds are written where there are
/// any.
struct DateFormat {
    /// What stands between year, month and day; `nil` where they are omitted.
    private var dateSeparator: String?
    private var separator = ""
    private var hasTime = false
    private var hasMilliseconds = false
    /// What stands between hours and minutes of the zone; `nil` where it is omitted.
    private var zoneSeparator: String?

    /// Date, time and zone.
    static let standard = {
        var format = DateFormat()
        (format.dateSeparator, format.separator, format.zoneSeparator) = ("-", "T", "")
        (format.hasTime, format.hasMilliseconds) = (true, true)
        return format
    }()

    /// The date alone.
    static let date = {
        var format = DateFormat()
        format.dateSeparator = "-"
        return format
    }()

    private init() {}

    /// The format without a zone.
    var withoutZone: Self {
        var format = self
        format.zoneSeparator = nil
        return format
    }

    /// The format of `example`; ``standard`` when that is none.
    init(_ example: String) { self = DateFormat(valid: example) ?? .standard }

    private init?(valid example: String) {
        // Any digits do.
        var rest = example.contains("%") ? example[...] : Substring(example.map { $0.isNumber ? "1" : $0 })
        func take(_ choices: KeyValuePairs<String, String>) -> String? {
            for (text, meaning) in choices where rest.hasPrefix(text) {
                rest.removeFirst(text.count)
                return meaning
            }
            return nil
        }
        dateSeparator = take([
            "%F": "-", "%Y-%m-%d": "-", "%Y/%m/%d": "/", "1111-11-11": "-", "1111/11/11": "/",
        ])
        let between = take(["T": "T", " ": " "])
        if let milliseconds = take(["%T": "all", "%H:%M:%S": "", "11:11:11": ""]) {
            hasTime = true
            hasMilliseconds =
                take(["%s": "", ".%s": "", "%.s": "", ".111": ""]) != nil || milliseconds == "all"
            zoneSeparator = take([
                "%z": "", "%Ez": ":", "Z": "", "+11:11": ":", "-11:11": ":", "+1111": "", "-1111": "",
            ])
        }
        separator = between ?? ""
        guard rest.isEmpty, dateSeparator != nil || hasTime,
            (between != nil) == (dateSeparator != nil && hasTime)
        else { return nil }
    }

    /// The text of a point of time on a clock that is `offset` seconds ahead of UTC; `nil` outside of the years 0 to 9999.
    func text(_ milliseconds: Int64, offset: Int) -> String? {
        let date = CalendarDate(milliseconds: milliseconds, offset: offset)
        guard 0...9999 ~= date.year else { return nil }
        func digits(_ number: Int, _ count: Int) -> String {
            let decimal = "\(number)"
            return String(repeating: "0", count: max(0, count - decimal.utf8.count)) + decimal
        }
        var text = ""
        if let mark = dateSeparator {
            text = "\(digits(date.year, 4))\(mark)\(digits(date.month, 2))\(mark)\(digits(date.day, 2))"
        }
        guard hasTime else { return text }
        let seconds = date.millisecond / 1000
        text +=
            "\(separator)\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
        let fraction = date.millisecond % 1000
        if hasMilliseconds, fraction != 0 { text += ".\(digits(fraction, 3))" }
        guard let mark = zoneSeparator else { return text }
        guard offset != 0 else { return text + "Z" }
        let minutes = abs(offset) / 60
        return text + "\(offset < 0 ? "-" : "+")\(digits(minutes / 60, 2))\(mark)\(digits(minutes % 60, 2))"
    }
}
