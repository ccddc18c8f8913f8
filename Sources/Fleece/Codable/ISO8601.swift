/// Dates as text, in the profile of RFC 3339.
///
/// Times are seconds since 2001-01-01T00:00:00Z, as Foundation's `Date` holds them, and go through text unchanged.
package enum ISO8601 {
    /// From 1970-01-01 to 2001-01-01, both at midnight UTC.
    package static let secondsFrom1970To2001: Int64 = 978_307_200
    private static let secondsPerDay: Int64 = 86_400
    /// The years 0…9999.
    private static let seconds1970: Range<Int64> = -62_167_219_200..<253_402_300_800
    /// No `Double` has more digits after the point that count.
    private static let mostDigits = 400

    // MARK: Writing

    /// The point of time in UTC: `2026-03-01T12:34:56.789Z`; `nil` outside of the years 0…9999.
    ///
    /// With milliseconds, or with as many more digits as it takes for ``secondsSince2001(_:)`` to read the same number.
    package static func text(secondsSince2001 seconds: Double) -> String? {
        guard seconds.isFinite, let second = Int64(exactly: seconds.rounded(.down)),
            seconds1970.contains(second + secondsFrom1970To2001)
        else { return nil }
        let milliseconds = ((seconds + Double(secondsFrom1970To2001)) * 1000).rounded()
        if milliseconds < Double(seconds1970.upperBound) * 1000 {
            let (second, fraction) = Int64(milliseconds).flooredDivision(by: 1000)
            let digits = String(fraction)
            let text = text(
                second1970: second, fraction: String(repeating: "0", count: 3 - digits.utf8.count) + digits)
            if secondsSince2001(text.utf8) == seconds { return text }
        }
        var fraction = fractionDigits(seconds)
        // Four at least, so that it is read as what it is; see below.
        while fraction.utf8.count < 4 { fraction += "0" }
        return text(second1970: second + secondsFrom1970To2001, fraction: fraction)
    }

    private static func text(second1970 second: Int64, fraction: String) -> String {
        let (days, timeOfDay) = second.flooredDivision(by: secondsPerDay)
        let (year, month, day) = civil(daysSince1970: Int(days))
        var text = ""
        func append(_ number: Int, digits: Int, _ separator: String) {
            let decimal = String(number)
            text += String(repeating: "0", count: digits - decimal.utf8.count) + decimal + separator
        }
        append(year, digits: 4, "-")
        append(month, digits: 2, "-")
        append(day, digits: 2, "T")
        append(Int(timeOfDay) / 3600, digits: 2, ":")
        append(Int(timeOfDay) / 60 % 60, digits: 2, ":")
        append(Int(timeOfDay) % 60, digits: 2, ".")
        return text + fraction + "Z"
    }

    /// The digits after the point of the shortest decimal that reads as `seconds`, counted up from the second before.
    private static func fractionDigits(_ seconds: Double) -> String {
        let (mantissa, exponent) = "\(seconds.magnitude)".split(onceAt: "e")
        let (integer, fraction) = mantissa.split(onceAt: ".")
        var digits = Array((fraction ?? "").utf8)
        // An exponent is negative, as times within the years 0…9999 are below 10¹⁶: "1.5e-07" is 0.00000015.
        if let exponent = exponent.flatMap({ Int($0) }), exponent < 0 {
            digits =
                [UInt8](repeating: UInt8(ascii: "0"), count: -exponent - 1) + Array(integer.utf8) + digits
        }
        return String(decoding: seconds < 0 ? complement(digits) : digits, as: UTF8.self)
    }

    /// The digits of 1 minus the fraction; of 0 for 0.
    private static func complement(_ digits: [UInt8]) -> [UInt8] {
        let zero = UInt8(ascii: "0")
        guard let last = digits.lastIndex(where: { $0 != zero }) else { return [] }
        return digits[..<last].map { 9 - ($0 - zero) + zero } + [10 - (digits[last] - zero) + zero]
    }

    // MARK: Reading

    /// The point of time that `text` names; `nil` if it names none.
    ///
    /// Accepts a date alone; a date, `T` or a space, and a time with or without seconds and a fraction of any
    /// length; then `Z`, an offset (`+02:00`, `+0200`) or nothing, which means UTC.
    package static func secondsSince2001(_ text: some Collection<UInt8>) -> Double? {
        var scanner = Scanner(rest: text[...])
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), isDate(year, month, day)
        else { return nil }
        var second = Int64(days(year: year, month: month, day: day)) * secondsPerDay
        if scanner.isAtEnd { return seconds(second, []) }
        guard scanner.skip("T") || scanner.skip(" "), let hour = scanner.number(digits: 2), scanner.skip(":"),
            let minute = scanner.number(digits: 2), hour < 24, minute < 60
        else { return nil }
        second += Int64(hour * 3600 + minute * 60)
        var fraction: [UInt8] = []
        if scanner.skip(":") {
            // 60 is a leap second.
            guard let number = scanner.number(digits: 2), number <= 60 else { return nil }
            second += Int64(number)
            if scanner.skip(".") || scanner.skip(",") {
                fraction = scanner.digits()
                guard !fraction.isEmpty else { return nil }
            }
        }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        return seconds(second - Int64(offset), fraction)
    }

    /// The number nearest to a second since 1970 and the digits of a fraction.
    ///
    /// Milliseconds are rounded to a `Double` since 1970 first, because that is how nearly every program makes them, and
    /// two such times shall be equal. Finer fractions are rounded since 2001, where a `Double` has finer steps at present.
    private static func seconds(_ second: Int64, _ fraction: [UInt8]) -> Double {
        if fraction.count <= 3 {
            let milliseconds = fraction.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            let scale = [1, 10, 100, 1000][fraction.count] as Int64
            return Double(second * scale + milliseconds) / Double(scale) - Double(secondsFrom1970To2001)
        }
        let second = second - secondsFrom1970To2001
        let isNegative = second < 0
        let digits = isNegative ? complement(fraction) : fraction
        let whole = isNegative ? -second - (digits.isEmpty ? 0 : 1) : second
        let decimal = "\(whole).\(String(decoding: digits, as: UTF8.self))0"
        return (isNegative ? -1 : 1) * (Double(decimal) ?? 0)
    }

    private static func isDate(_ year: Int, _ month: Int, _ day: Int) -> Bool {
        guard 1...12 ~= month else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...lengths[month - 1] ~= day
    }

    // MARK: The calendar

    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March and are counted in
    // eras of 400 years, so that the leap day is always the last of a year.

    /// The day of a date in the Gregorian calendar, counted from 1970-01-01.
    package static func days(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date of a day: see ``days(year:month:day:)``.
    package static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
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

        private mutating func digit() -> UInt8? {
            guard let byte = rest.first, JSONText.isDigit(byte) else { return nil }
            rest = rest.dropFirst()
            return byte
        }

        mutating func number(digits: Int) -> Int? {
            var number = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                number = number * 10 + Int(digit - UInt8(ascii: "0"))
            }
            return number
        }

        /// As many digits as follow, those left out that count for nothing.
        mutating func digits() -> [UInt8] {
            var digits: [UInt8] = []
            while let digit = digit() {
                if digits.count < mostDigits { digits.append(digit) }
            }
            return digits
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

extension Int64 {
    /// The quotient rounded down, and the remainder, which is never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension StringProtocol {
    /// What is before and after the first `separator`.
    fileprivate func split(onceAt separator: Character) -> (before: String, after: String?) {
        guard let index = firstIndex(of: separator) else { return (String(self), nil) }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }
}
