import RoostBytes
import RoostStorage

/// Which documents of an index are alive, and how long they are. Keeps what it has read; belongs to one thread.
final class LivingDocuments {
    private let rows: TreeView
    /// Maps of dead documents by number; `nil` for one without any.
    private var maps: [Int: [UInt8]?] = [:]
    private var lengths: [Int: [Int]] = [:]
    private var lastMap: (number: Int, map: [UInt8]?) = (-1, nil)
    private var lastLengths: (number: Int, lengths: [Int]) = (-1, [])

    init(_ rows: TreeView) { self.rows = rows }

    /// Whether a document is alive.
    func contains(_ document: Int) throws(StoreError) -> Bool {
        let number = document / TextKeys.mapSize
        if lastMap.number != number { lastMap = (number, try map(number)) }
        guard let map = lastMap.map else { return true }
        return map[document % TextKeys.mapSize / 8] & 1 << UInt8(document % 8) == 0
    }

    private func map(_ number: Int) throws(StoreError) -> [UInt8]? {
        if let known = maps[number] { return known }
        let map = try rows.value(TextKeys.dead(number * TextKeys.mapSize))
        if let map, map.count != TextKeys.mapSize / 8 { throw TextDamage.error }
        maps[number] = .some(map)
        return map
    }

    /// How many words a document has.
    func length(_ document: Int) throws(StoreError) -> Int {
        let number = document / TextKeys.lengthsSize
        if lastLengths.number != number { lastLengths = (number, try lengths(number)) }
        let place = document % TextKeys.lengthsSize
        guard place < lastLengths.lengths.count else { throw TextDamage.error }
        return lastLengths.lengths[place]
    }

    private func lengths(_ number: Int) throws(StoreError) -> [Int] {
        if let known = lengths[number] { return known }
        guard let bytes = try rows.value(TextKeys.lengths(number * TextKeys.lengthsSize)) else {
            throw TextDamage.error
        }
        let read = try TextDamage.guarding { () throws(MalformedBytes) in
            try bytes.withView { (view) throws(MalformedBytes) in
                // Each takes a byte at least.
                var lengths = [Int](repeating: 0, count: min(view.count, TextKeys.lengthsSize))
                var reader = ByteReader(view)
                var count = 0
                var span = lengths.mutableSpan
                while !reader.isAtEnd {
                    guard count < span.count else { throw MalformedBytes(at: reader.position) }
                    span[count] = try reader.length(limit: Int(clamping: UInt32.max))
                    count += 1
                }
                lengths.removeLast(lengths.count - count)
                return lengths
            }
        }
        lengths[number] = read
        return read
    }
}
