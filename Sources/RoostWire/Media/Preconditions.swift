/// The conditions that a request makes on what is there, by entity tags (RFC 9110, section 13).
///
/// A representation has a strong tag and no date, so conditions by dates are ignored, as the standard requires.
public struct Preconditions: Sendable {
    /// What a request for a representation is answered with.
    public enum Verdict: Sendable, Equatable {
        /// What it asks for.
        case proceed
        /// 304: the client has it.
        case notModified
        /// 412: it is not what the client thinks.
        case failed
    }

    private let match: Tags?
    private let noneMatch: Tags?
    private let range: Tags?

    /// The conditions in the fields of a request.
    public init(_ headers: HTTPHeaders) {
        match = Tags(headers.all("If-Match"))
        noneMatch = Tags(headers.all("If-None-Match"))
        range = Tags(headers.all("If-Range"))
    }

    /// What a GET or HEAD is answered with, of a representation that has this tag.
    ///
    /// - Parameter tag: A strong one, with its quotation marks.
    public func verdict(_ tag: String) -> Verdict {
        if let match, !match.contains(tag, isWeak: false) { return .failed }
        if let noneMatch, noneMatch.contains(tag, isWeak: true) { return .notModified }
        return .proceed
    }

    /// Whether a part may be answered, of a representation that has this tag. Otherwise all of it is.
    public func allowsPart(_ tag: String) -> Bool { range?.contains(tag, isWeak: false) ?? true }
}

/// A list of entity tags, or `*`.
private struct Tags {
    private var isAny = false
    /// Each with its quotation marks.
    private var tags: [(tag: [UInt8], isWeak: Bool)] = []

    /// - Returns: `nil` where there is no field.
    init?(_ fields: [String]) {
        guard !fields.isEmpty else { return nil }
        for field in fields { read(Array(field.utf8)) }
    }

    /// Reads the elements of a field; one that is no tag equals none.
    private mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let first = rest.first {
            guard first != UInt8(ascii: ","), first != 0x20, first != 0x09 else {
                rest.removeFirst()
                continue
            }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest.removeFirst(2) }
            if rest.first == UInt8(ascii: "\""),
                let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
            {
                tags.append((Array(rest[...end]), isWeak))
                rest = rest[(end + 1)...]
            } else {
                let element = rest.prefix { $0 != UInt8(ascii: ",") }
                isAny = isAny || element.elementsEqual("*".utf8)
                rest = rest.dropFirst(element.count)
            }
        }
    }

    /// Whether a strong tag is among them.
    ///
    /// - Parameter isWeak: Whether weak tags count, too.
    func contains(_ tag: String, isWeak: Bool) -> Bool {
        isAny || tags.contains { $0.tag.elementsEqual(tag.utf8) && (isWeak || !$0.isWeak) }
    }
}

/// The part of a content that a request wants.
public enum ByteRange: Sendable, Equatable {
    /// No part is wanted, or none that can be sent alone: send everything.
    case whole
    /// These bytes.
    case part(Range<UInt64>)
    /// No byte of the range exists: 416.
    case unsatisfiable

    /// The meaning of a `Range` field for `length` bytes. Several ranges of which more than one is there, other units and what is no range are
    /// answered with everything, which the standard allows (RFC 9110, section 14.2).
    public init(_ field: String?, length: UInt64) {
        guard let field, field.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        var found: [Range<UInt64>] = []
        var count = 0
        for element in field.dropFirst(6).split(separator: ",") {
            let text = HTTPHeaders.trimmed(element)
            guard !text.isEmpty else { continue }
            guard let range = Self.range(text, length) else {
                self = .whole
                return
            }
            count += 1
            if !range.isEmpty { found.append(range) }
        }
        if count == 0 || found.count > 1 {
            self = .whole
        } else {
            self = found.first.map { .part($0) } ?? .unsatisfiable
        }
    }

    /// `FIRST-LAST`, `FIRST-` or `-COUNT`; an empty range for one that is not there, `nil` for what is no range.
    private static func range(_ text: String, _ length: UInt64) -> Range<UInt64>? {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy(Syntax.isDigit) }) else { return nil }
        // A number that is too large for a length is beyond each of them.
        let numbers = bounds.map { $0.isEmpty ? nil : UInt64($0) ?? .max }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last):
            if let last, last < first { return nil }
            guard first < length else { return 0..<0 }
            return first..<min(last ?? .max, length - 1) + 1
        case (nil, let count?): return length - min(count, length)..<length
        case (nil, nil): return nil
        }
    }
}

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The text for a time in seconds since 1970, not before.
    public static func text(secondsSince1970 seconds: Int) -> String {
        let day = seconds / 86400
        let time = seconds % 86400
        let date = civil(day)
        return
            "\(days[day % 7]), \(two(date.day)) \(months[date.month - 1]) \(date.year) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// The date of a day counted from 1970, by Howard Hinnant's `civil_from_days`.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, day)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
