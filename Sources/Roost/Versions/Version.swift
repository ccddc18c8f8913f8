import RoostBytes

/// The peer that made a version: 16 bytes, written as 22 characters of base64 (LiteCore's `SourceID`).
package struct SourceID: Hashable, Sendable {
    /// The number of bytes.
    package static let byteCount = 16
    /// The number of characters of the text.
    package static let textLength = 22

    private let high: UInt64
    private let low: UInt64

    /// The peer itself, written `*`. It is only for what stays in its own file.
    package static let me = SourceID(high: 0, low: 0)
    /// Stands for the revisions of a tree: its text is `Revision+Tree+Encoding`.
    package static let revisionTree = SourceID(high: 0x45eb_e2b2_2a27_f93a, low: 0xde7b_e127_7287_629e)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A source of 16 bytes.
    ///
    /// - Precondition: There are 16 bytes.
    package init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count == Self.byteCount)
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads the text of a source other than ``me``; `nil` for anything that is not the one text of its 16 bytes.
    package init?(text: some Collection<UInt8>) {
        guard text.count == Self.textLength, let bytes = Base64.decode(Array(text) + [0x3D, 0x3D]),
            bytes.count == Self.byteCount
        else { return nil }
        self.init(bytes)
        // Bits beyond the 16 bytes would give one source two texts.
        guard self != .me, description.utf8.elementsEqual(text) else { return nil }
    }

    package var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) }
        }
    }
}

extension SourceID: Comparable, CustomStringConvertible {
    package static func < (a: SourceID, b: SourceID) -> Bool { (a.high, a.low) < (b.high, b.low) }

    package var description: String {
        self == .me ? "*" : String(Base64.encode(bytes).prefix(Self.textLength))
    }
}

/// One edit: the logical time of a hybrid clock, and the peer that made it (LiteCore's `Version`). Its text, `time@source` with the time
/// in hexadecimal, is a document's revision ID in Couchbase Lite 4.
package struct Version: Hashable, Sendable {
    /// Nanoseconds since 1970, with the low 16 bits replaced by a counter; never 0.
    package let time: UInt64
    package let source: SourceID

    /// - Precondition: The time is not 0.
    package init(time: UInt64, source: SourceID) {
        precondition(time != 0)
        self.time = time
        self.source = source
    }

    /// Reads the text of a version; `nil` for other texts, also for those with leading zeros or upper-case digits.
    package init?(text: some Collection<UInt8>) {
        guard let at = text.firstIndex(of: UInt8(ascii: "@")), let time = Self.time(text[..<at]) else {
            return nil
        }
        let source = text[text.index(after: at)...]
        if source.elementsEqual("*".utf8) {
            self.init(time: time, source: .me)
        } else {
            guard let source = SourceID(text: source) else { return nil }
            self.init(time: time, source: source)
        }
    }

    private static func time(_ digits: some Collection<UInt8>) -> UInt64? {
        guard (1...16).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var time: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): time = time << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                time = time << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return time
    }

    /// A revision of a tree as a version: 24 bits of generation above the first 40 bits of the digest. Its time is far below that of
    /// any edit, so it counts as older.
    package init?(generation: UInt64, digest: some Collection<UInt8>) {
        guard (1..<1 << 24).contains(generation) else { return nil }
        let bits = (0..<5).reduce(UInt64(0)) { bits, index in
            let place = digest.index(digest.startIndex, offsetBy: index, limitedBy: digest.endIndex)
            return bits << 8 | UInt64(place.flatMap { $0 < digest.endIndex ? digest[$0] : nil } ?? 0)
        }
        self.init(time: generation << 40 | bits, source: .revisionTree)
    }

    /// The generation and the first five bytes of the digest, where the version stands for a revision of a tree.
    package var treeRevision: (generation: UInt64, digestPrefix: [UInt8])? {
        guard source == .revisionTree, time >> 40 > 0 else { return nil }
        return (time >> 40, (0..<5).reversed().map { UInt8(truncatingIfNeeded: time >> (UInt64($0) * 8)) })
    }
}

extension Version: CustomStringConvertible {
    package var description: String { "\(String(time, radix: 16))@\(source)" }
}

// MARK: - HybridClock

/// A hybrid logical clock (Kulkarni et al., "Logical Physical Clocks and Consistent Snapshots", 2014, figure 5) in LiteCore's form:
/// nanoseconds since 1970 whose low 16 bits are a counter.
///
/// Its times only ascend, stay close to the system's clock, and come after every time that it was shown.
package struct HybridClock: Sendable {
    /// Why a time is refused.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// The time is below 2⁴⁰ or above 2⁶³ − 1, which no edit has.
        case impossible
        /// The time is more than two minutes ahead of the system's clock, which would drag this clock along.
        case ahead

        package var description: String {
            switch self {
            case .impossible: "The time of a version is one that no edit has."
            case .ahead: "The time of a version is more than two minutes ahead of this system's clock."
            }
        }
    }

    /// The low bits, which count.
    private static let counterMask: UInt64 = 0xFFFF
    /// How far ahead of the system's clock a time may be, in nanoseconds: two minutes.
    package static let mostAhead: UInt64 = 120_000_000_000
    /// The times that edits have.
    package static let range: ClosedRange<UInt64> = 1 << 40...(1 << 63) - 1

    /// The newest time that the clock has given or was shown.
    package private(set) var last: UInt64

    /// A clock that goes on after a time.
    package init(last: UInt64 = 0) { self.last = last }

    /// A new time, after all others.
    ///
    /// - Parameter wall: The system's clock, in nanoseconds since 1970.
    package mutating func now(wall: UInt64) -> UInt64 {
        let wall = wall & ~Self.counterMask
        last = wall <= last & ~Self.counterMask ? last + 1 : wall
        return last
    }

    /// Shows the clock a time of another peer.
    ///
    /// - Throws: ``Refusal``, and stays as it is.
    package mutating func see(_ time: UInt64, wall: UInt64) throws(Refusal) {
        guard Self.range.contains(time) else { throw .impossible }
        guard time <= wall || time - wall <= Self.mostAhead else { throw .ahead }
        last = max(last, time)
    }
}
