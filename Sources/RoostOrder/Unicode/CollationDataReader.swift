import CRoostZlib
import RoostBytes

/// Reads what `Scripts/make-collation-data` wrote. The data is a part of the program, so a fault in it is the program's.
struct CollationDataReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The weights that elements refer to by number.
    struct Weights {
        let primaries: [UInt32]
        let others: [(secondary: UInt16, third: UInt8)]
    }

    init(_ deflated: StaticString = CollationData.deflated, length size: Int = CollationData.length) {
        let text = deflated.withUTF8Buffer { unsafe Array($0) }
        guard let packed = Base64.decode(text.filter { $0 != UInt8(ascii: "\n") }) else {
            preconditionFailure("collation data that is no Base64")
        }
        var length = uLongf(size)
        var status = Z_OK
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { target, count in
            unsafe packed.withUnsafeBufferPointer { source in
                status = unsafe uncompress(
                    target.baseAddress, &length, source.baseAddress, uLong(source.count))
            }
            count = Int(length)
        }
        precondition(
            status == Z_OK && bytes.count == size, "collation data of another length")
    }

    /// The next byte.
    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    /// The next number.
    mutating func number() -> UInt32 {
        var result: UInt32 = 0
        var shift: UInt32 = 0
        while true {
            let byte = bytes[position]
            position += 1
            result |= UInt32(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    /// Numbers that grow, kept as distances.
    mutating func readAscending() -> [UInt32] {
        var last: UInt32 = 0
        return (0..<number()).map { _ in
            last += number()
            return last
        }
    }

    mutating func readWeights() -> Weights {
        let primaries = readAscending().map { $0 << 8 }
        let others = (0..<number()).map { _ in
            (secondary: UInt16(number()), third: UInt8(number()))
        }
        return Weights(primaries: primaries, others: others)
    }

    /// `count` runs of elements, to be placed after `offset` others.
    mutating func readRuns(_ count: Int, _ weights: Weights, after offset: Int = 0)
        -> (runs: [CollationTable.Run], elements: [CollationElement])
    {
        var end = 0
        let runs = (0..<count).map { _ in
            let length = Int(number())
            defer { end += length }
            return CollationTable.Run(start: offset + end, count: length)
        }
        var index: UInt32 = 0
        let primaries = (0..<end).map { _ in
            let step = number()
            index = step & 1 == 0 ? index + step >> 1 : index - (step + 1) >> 1
            return weights.primaries[Int(index)]
        }
        let elements = primaries.map { primary in
            let (secondary, third) = weights.others[Int(number())]
            return CollationElement(primary: primary, secondary: secondary, third: third)
        }
        return (runs, elements)
    }

    mutating func readSequences() -> [[UInt32]] {
        (0..<number()).map { _ in (0..<number()).map { _ in number() } }
    }

    mutating func readRanges() -> [ClosedRange<UInt32>] {
        (0..<number()).map { _ in
            let first = number()
            return first...number()
        }
    }
}
