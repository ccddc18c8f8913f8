/// Dates as text, in the profile of RFC 3339.
package enum ISO8601 {
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The point of time in UTC with milliseconds: `2026-03-01T12:34:56.789Z`; `nil` outside of the years 0…9999.
    package static func text(secondsSince1970 seconds: Double) -> String? {
        let milliseconds = (seconds * 1000).rounded()
        guard milliseconds >= -62_167_219_200_000, milliseconds < 253_402_300_800_000 else { return nil }
        let total = Int64(milliseconds)
        let timeOfDay = Int(((total % millisecondsPerDay) + millisecondsPerDay) % millisecondsPerDay)
        let (year, month, day) = civil(daysSince1970: Int((total - Int64(timeOfDay)) / millisecondsPerDay))
        var text = ""
        func append(_ number: Int, digits: Int, _ separator: String) {
            let decimal = String(number)
            text += String(repeating: "0", count: digits - decimal.utf8.count) + decimal + separator
        }
        append(year, digits: 4, "-")
        append(month, digits: 2, "-")
        append(day, digits: 2, "T")
        append(timeOfDay / 3_600_000, digits: 2, ":")
        append(timeOfDay / 60_000 % 60, digits: 2, ":")
        append(timeOfDay / 1000 % 60, digits: 2, ".")
        append(timeOfDay % 1000, digits: 3, "Z")
        return text
    }

    /// The point of time that `text` names; `nil` if it names none.
    ///
    /// Accepts a date alone; a date, `T` or a space, and a time with or without seconds and a fraction of any
    /// length; then `Z`, an offset (`+02:00`, `+0200`) or nothing, which means UTC.
    package static func secondsSince1970(_ text: some Collection<UInt8>) -> Double? {
        var scanner = Scanner(rest: text[...])
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), isDate(year, month, day)
        else { return nil }
        var seconds = Double(days(year: year, month: month, day: day)) * 86_400
        if scanner.isAtEnd { return seconds }
        guard scanner.skip("T") || scanner.skip(" "), let hour = scanner.number(digits: 2), scanner.skip(":"),
            let minute = scanner.number(digits: 2), hour < 24, minute < 60
        else { return nil }
        seconds += Double(hour * 3600 + minute * 60)
        if scanner.skip(":") {
            // 60 is a leap second.
            guard let second = scanner.number(digits: 2), second <= 60 else { return nil }
            seconds += Double(second)
            if scanner.skip(".") || scanner.skip(",") {
                guard let fraction = scanner.fraction() else { return nil }
                seconds += fraction
            }
        }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        return seconds - Double(offset)
    }

    private static func isDate(_ year: Int, _ month: Int, _ day: Int) -> Bool {
        guard 1...12 ~= month else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...lengths[month - 1] ~= day
    }

    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March and are counted in
    // eras of 400 years, so that the leap day is always the last of a year.

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private struct Scanner<Text: Collection<UInt8>> where Text.SubSequence == Text {
        var rest: Text

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        private mutating func digit() -> Int? {
            guard let byte = rest.first, JSONText.isDigit(byte) else { return nil }
            rest = rest.dropFirst()
            return Int(byte - UInt8(ascii: "0"))
        }

        mutating func number(digits: Int) -> Int? {
            var number = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        mutating func fraction() -> Double? {
            guard var digits = digit().map(Double.init) else { return nil }
            var unit = 10.0
            while let digit = digit() {
                // More digits than a double holds change nothing.
                guard unit < 1e15 else { continue }
                digits = digits * 10 + Double(digit)
                unit *= 10
            }
            return digits / unit
        }

        /// The offset from UTC in seconds.
        mutating func zone() -> Int? {
            if isAtEnd || skip("Z") { return 0 }
            let isNegative = skip("-")
            guard isNegative || skip("+"), let hours = number(digits: 2) else { return nil }
            _ = skip(":")
            guard let minutes = number(digits: 2), hours < 24, minutes < 60 else { return nil }
            return (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
        }
    }
}
