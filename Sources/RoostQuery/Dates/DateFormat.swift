/// Which parts of a date are written, told by an example such as `1111-11-11T11:11:11Z` or by tokens such as `%FT%T%z`.
///
/// The language is LiteCore's: date, time and zone, each whole or left out, in this order. Milliseconds are written where there are
/// any.
struct DateFormat {
    /// What stands between year, month and day; `nil` where they are left out.
    private var dateSeparator: String?
    private var separator = ""
    private var hasTime = false
    private var hasMilliseconds = false
    /// What stands between hours and minutes of the zone; `nil` where it is left out.
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
