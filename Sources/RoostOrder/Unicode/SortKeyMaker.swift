import RoostBytes

/// Writes the sort keys of texts: bytes that compare as the texts do.
///
/// A key has the primary weights, then 01 and the secondary ones, then 01 and the tertiary ones. Common weights at the end
/// of a level are left out, and so are levels at the end that have nothing, so that plain lower-case text takes a byte a
/// letter. No byte is 00. Keeps its memory; belongs to one thread.
struct SortKeyMaker {
    private let order: UnicodeOrder
    private let table: CollationTable
    private var walk: ElementWalk?
    private var secondaries: [UInt8] = []
    private var tertiaries: [UInt8] = []

    private static let separator: UInt8 = 0x01

    init(_ order: UnicodeOrder) {
        self.order = order
        table = .table(order.tailoring)
    }

    /// Appends the key of a text, given in UTF-8; ill-formed parts count as U+FFFD.
    mutating func append(_ text: ByteView, to key: ByteBuffer) {
        secondaries.removeAll(keepingCapacity: true)
        tertiaries.removeAll(keepingCapacity: true)
        if text.isASCII && table.leavesASCII {
            appendASCII(text, to: key)
        } else {
            appendText(text, to: key)
        }
        if !order.ignoresAccents || !order.ignoresCase { appendLevels(to: key) }
    }

    private mutating func appendASCII(_ text: ByteView, to key: ByteBuffer) {
        key.reserve(text.count * 2)
        let table = ASCIIWeights.shared
        var count = 0
        for index in 0..<text.count {
            let weight = table.weights[Int(text[index])]
            guard weight.primary != 0 else { continue }
            Self.append(weight.primary, to: key)
            if !order.ignoresCase {
                let third = order.ignoresAccents ? weight.letterCase : weight.tertiary
                if third != CollationElement.common {
                    while tertiaries.count < count { tertiaries.append(CollationElement.common) }
                    tertiaries.append(third)
                }
                count += 1
            }
        }
    }

    private mutating func appendText(_ text: ByteView, to key: ByteBuffer) {
        let text = unsafe String(decoding: text.buffer, as: UTF8.self)
        let order = order
        var secondaries = Level(secondaries)
        var tertiaries = Level(tertiaries)
        var mayBeLight = false
        let isUpperFirst = table.isUpperFirst
        var walk = self.walk ?? ElementWalk(table)
        walk.elements(of: text) { element in
            if element.primary != 0 {
                Self.append(element.primary, to: key)
                if element.mayBeLight { mayBeLight = true }
            }
            if !order.ignoresAccents, element.secondary != 0 { secondaries.append(element.secondary) }
            guard !order.ignoresCase, element.tertiary != 0 else { return }
            if !order.ignoresAccents {
                tertiaries.append(isUpperFirst ? element.upperFirstTertiary : element.tertiary)
            } else if element.primary != 0 {
                tertiaries.append(isUpperFirst ? element.upperFirstCase : element.letterCase)
            }
        }
        self.walk = walk
        secondaries.trim()
        // Where a weight below the common one may follow, common ones at the end would not compare as nothing does.
        if !mayBeLight, !isUpperFirst { tertiaries.trim() }
        (self.secondaries, self.tertiaries) = (secondaries.bytes, tertiaries.bytes)
    }

    private func appendLevels(to key: ByteBuffer) {
        if !secondaries.isEmpty || !tertiaries.isEmpty, !order.ignoresAccents {
            key.append(Self.separator)
            key.append(secondaries)
        }
        if !tertiaries.isEmpty {
            key.append(Self.separator)
            key.append(tertiaries)
        }
    }

    private static func append(_ primary: UInt32, to key: ByteBuffer) {
        var rest = primary
        while rest != 0 {
            key.append(UInt8(rest >> 24))
            rest <<= 8
        }
    }
}

/// The weights of one level.
private struct Level {
    private(set) var bytes: [UInt8]
    /// How many bytes there are up to the last weight that is not the common one.
    private var keptCount = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func append(_ weight: UInt8) {
        bytes.append(weight)
        if weight != CollationElement.common { keptCount = bytes.count }
    }

    mutating func append(_ weight: UInt16) {
        guard weight & 0xFF != 0 else { return append(UInt8(weight >> 8)) }
        bytes.append(UInt8(weight >> 8))
        bytes.append(UInt8(weight & 0xFF))
        keptCount = bytes.count
    }

    /// Leaves common weights at the end out.
    mutating func trim() { bytes.removeLast(bytes.count - keptCount) }
}

/// The elements of ASCII's characters, which have one each and take part in no contraction among themselves.
struct ASCIIWeights: Sendable {
    let weights: [CollationElement]

    static let shared = ASCIIWeights()

    private init() {
        let table = CollationTable.root
        weights = (0..<128).map { scalar in
            table.run(table.places[scalar]).map { table.elements[$0.start] } ?? table.implicitElement(scalar)
        }
    }
}
