import RoostBytes

/// How two version vectors are related.
package enum VersionOrder: Sendable {
    case same, older, newer, conflicting
}

/// The history of a document as Couchbase Lite 4 has it: the newest version of each peer that edited it (LiteCore's `VersionVector`).
///
/// The first version is the current one. The two versions that it merged follow, if any; then the newest earlier version of each
/// other source, by descending time. A source occurs once, except that the current version's may also be that of a merged version.
package struct VersionVector: Hashable, Sendable {
    /// The versions, the current one first. Never empty.
    package private(set) var versions: [Version]
    /// The number of versions after the current one that it merged: 0 or 2.
    package private(set) var mergedCount: Int

    /// The most versions that a reader takes.
    package static let mostVersions = 4096

    package var current: Version { versions[0] }
    package var merged: ArraySlice<Version> { versions[1..<(1 + mergedCount)] }
    package var previous: ArraySlice<Version> { versions[(1 + mergedCount)...] }

    /// A document that one version made.
    package init(_ version: Version) {
        versions = [version]
        mergedCount = 0
    }

    /// A vector of these parts.
    ///
    /// - Returns: `nil` where a source occurs twice, a merged version of the current source is not older than it, or there are
    ///   neither none nor two merged versions.
    package init?(current: Version, merged: [Version] = [], previous: [Version] = []) {
        guard merged.isEmpty || merged.count == 2 else { return nil }
        var sources: Set<SourceID> = []
        for version in merged + previous where !sources.insert(version.source).inserted { return nil }
        if sources.contains(current.source) {
            guard merged.contains(where: { $0.source == current.source && $0.time < current.time }) else {
                return nil
            }
        }
        versions = [current] + merged + previous.sorted(by: Self.isNewer)
        mergedCount = merged.count
    }

    private static func isNewer(_ a: Version, _ b: Version) -> Bool {
        a.time == b.time ? a.source < b.source : a.time > b.time
    }

    // MARK: Comparing

    /// The newest time of a source that the document has seen; 0 where it has seen none.
    ///
    /// - Complexity: O(n) in the number of versions.
    package func time(of source: SourceID) -> UInt64 {
        versions.reduce(0) { $1.source == source ? max($0, $1.time) : $0 }
    }

    /// Whether the document has seen a version, or a later one of the same source.
    package func contains(_ version: Version) -> Bool { time(of: version.source) >= version.time }

    /// How this vector is related to another, which their current versions decide.
    package func compare(to other: VersionVector) -> VersionOrder {
        if current == other.current { return .same }
        let (hasOther, isKnown) = (contains(other.current), other.contains(current))
        if hasOther == isKnown { return .conflicting }
        return hasOther ? .newer : .older
    }

    // MARK: Editing

    /// The vector after an edit by another version: the merged versions become previous ones.
    ///
    /// - Precondition: The version is newer than all of its source.
    package func adding(_ version: Version) -> VersionVector {
        precondition(!contains(version))
        let kept = Self.newestOfEach(versions).filter { $0.source != version.source }
        return VersionVector(current: version, previous: kept)!
    }

    /// The vector of a merge with a new body.
    ///
    /// - Parameter version: The merge itself, newer than all of its source in both.
    /// - Returns: `nil` where the current versions are of one source, so that there is nothing to merge.
    package func merging(_ other: VersionVector, as version: Version) -> VersionVector? {
        guard current.source != other.current.source else { return nil }
        let merged = [current, other.current].sorted(by: Self.isNewer)
        let kept = Self.newestOfEach(versions + other.versions).filter { kept in
            kept.source != version.source && !merged.contains { $0.source == kept.source }
        }
        return VersionVector(current: version, merged: merged, previous: kept)
    }

    /// The newest version of each source, in no particular order.
    private static func newestOfEach(_ versions: [Version]) -> [Version] {
        var newest: [SourceID: UInt64] = [:]
        for version in versions { newest[version.source] = max(newest[version.source] ?? 0, version.time) }
        return newest.map { Version(time: $1, source: $0) }
    }

    /// Drops the oldest previous versions.
    ///
    /// - Parameter count: The number of previous versions that are kept at least.
    package func pruned(keeping count: Int) -> VersionVector {
        var pruned = self
        let excess = previous.count - count
        if excess > 0 { pruned.versions.removeLast(excess) }
        return pruned
    }

    /// The vector with every occurrence of one source replaced by another: ``SourceID/me`` by the peer's own, before it leaves the peer.
    package func replacing(_ source: SourceID, by other: SourceID) -> VersionVector {
        var replaced = self
        replaced.versions = versions.map { $0.source == source ? Version(time: $0.time, source: other) : $0 }
        return replaced
    }
}

// MARK: Text

extension VersionVector: CustomStringConvertible {
    /// The text as LiteCore writes it: `cv`, `cv; pv, pv`, `cv, mv, mv;` or `cv, mv, mv; pv, pv`.
    package var description: String {
        let head = versions[...mergedCount].map(\.description).joined(separator: ", ")
        let tail = previous.map(\.description).joined(separator: ", ")
        if tail.isEmpty { return mergedCount == 0 ? head : head + ";" }
        return "\(head); \(tail)"
    }

    /// Reads the text of a vector, with or without blanks after its delimiters.
    ///
    /// - Returns: `nil` for other texts, for what ``init(current:merged:previous:)`` refuses, and for more than
    ///   ``mostVersions``.
    package init?(text: some Collection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let head = Self.list(parts[0]), !head.isEmpty else { return nil }
        let tail: [Version]
        if parts.count == 2 {
            guard let list = Self.list(parts[1]) else { return nil }
            tail = list
        } else {
            tail = []
        }
        guard head.count + tail.count <= Self.mostVersions else { return nil }
        self.init(current: head[0], merged: Array(head.dropFirst()), previous: tail)
    }

    private static func list(_ text: some Collection<UInt8>) -> [Version]? {
        if text.allSatisfy({ $0 == 0x20 }) { return [] }
        var versions: [Version] = []
        for item in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let version = Version(text: item.drop { $0 == 0x20 }) else { return nil }
            versions.append(version)
        }
        return versions
    }
}

// MARK: Bytes

extension VersionVector {
    /// The flag of a current or merged version in the byte before its source.
    private static let currentFlag: UInt8 = 0x80

    /// The bytes as LiteCore stores them: 00, then for each version the time, the first as it is and each further one as the difference
    /// from the one before, and the source.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = [0]
        var last: UInt64 = 0
        for (index, version) in versions.enumerated() {
            bytes.append(varint: Self.packed(index == 0 ? version.time : last &- version.time))
            last = version.time
            let flag = index <= mergedCount ? Self.currentFlag : 0
            if version.source == .me {
                bytes.append(flag)
            } else {
                bytes.append(flag | UInt8(SourceID.byteCount))
                bytes += version.source.bytes
            }
        }
        return bytes
    }

    /// Reads what ``encoded`` has written.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.first == 0 else { return nil }
        var offset = 1
        var last: UInt64 = 0
        var versions: [Version] = []
        var currentCount = 0
        while offset < bytes.count {
            guard versions.count < Self.mostVersions, let number = bytes.span.varint(at: &offset),
                let value = Self.unpacked(number), offset < bytes.count
            else { return nil }
            last = versions.isEmpty ? value : last &- value
            let kind = bytes[offset]
            offset += 1
            guard last != 0 else { return nil }
            if kind & Self.currentFlag != 0 {
                // A current or merged version must not follow a previous one.
                guard currentCount == versions.count else { return nil }
                currentCount += 1
            }
            switch Int(kind & ~Self.currentFlag) {
            case 0: versions.append(Version(time: last, source: .me))
            case SourceID.byteCount:
                guard bytes.count - offset >= SourceID.byteCount else { return nil }
                let source = SourceID(bytes[offset..<(offset + SourceID.byteCount)])
                guard source != .me else { return nil }
                versions.append(Version(time: last, source: source))
                offset += SourceID.byteCount
            default: return nil
            }
        }
        guard !versions.isEmpty else { return nil }
        currentCount = max(currentCount, 1)
        self.init(
            current: versions[0], merged: Array(versions[1..<currentCount]),
            previous: Array(versions[currentCount...]))
    }

    /// A signed number in which zeros of the counter's 16 bits take no space.
    private static func packed(_ number: UInt64) -> UInt64 {
        let signed = Int64(bitPattern: number)
        return UInt64(bitPattern: number & 0xFFFF == 0 ? signed >> 15 : signed << 1 | 1)
    }

    private static func unpacked(_ number: UInt64) -> UInt64? {
        let signed = Int64(bitPattern: number)
        if number & 1 == 1 { return UInt64(bitPattern: signed >> 1) }
        let (value, hasOverflowed) = signed.multipliedReportingOverflow(by: 1 << 15)
        return hasOverflowed ? nil : UInt64(bitPattern: value)
    }
}
