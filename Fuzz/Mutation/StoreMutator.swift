import RoostBytes
import RoostSimulation

@testable import RoostStorage

/// Changes data files where it matters: inside chunks, records and headers, whose checksums it then makes right, so that
/// the changes get as far as the code behind them.
struct StoreMutator {
    /// libFuzzer's own mutations of some bytes, giving at most so many.
    typealias PlainMutation = ([UInt8], Int) -> [UInt8]

    private var layout: StoreLayout
    private let largest: Int
    private let plain: PlainMutation
    private var generator: SeededGenerator

    init(_ bytes: [UInt8], largest: Int, seed: UInt64, plain: @escaping PlainMutation) {
        layout = StoreLayout(bytes)
        self.largest = largest
        self.plain = plain
        generator = SeededGenerator(seed: seed)
    }

    /// The file after one to four changes, with right checksums nine times in ten.
    mutating func mutated() -> [UInt8] {
        if layout.records.isEmpty || generator.chance(0.04) { return plain(layout.bytes, largest) }
        for _ in 0...generator.next(below: 4) {
            switch generator.next(below: 20) {
            case 0...8: changePayload()
            case 9...10: splicePayload()
            case 11...12: resizePayload()
            case 13...15: changeRecord()
            case 16: changeHeader()
            case 17: cutOrExtend()
            case 18: repeatCommit()
            default: swapReferences()
            }
        }
        if generator.chance(0.9) { layout.seal() }
        return layout.bytes
    }

    private mutating func pick<C: RandomAccessCollection>(_ items: C) -> C.Element? where C.Index == Int {
        items.isEmpty ? nil : items[items.startIndex + generator.next(below: items.count)]
    }

    /// A chunk; seldom a value, because the engine does not look into them.
    private mutating func pickChunk() -> StoreLayout.Chunk? {
        let telling = layout.chunks.filter { $0.kind != .value }
        return generator.chance(0.9) ? pick(telling) ?? pick(layout.chunks) : pick(layout.chunks)
    }

    /// Lets libFuzzer change a few bytes of a chunk, whose length stays.
    private mutating func changePayload() {
        guard let chunk = pickChunk(), let start = pick(chunk.payload) else { return }
        let length = min(1 + generator.next(below: 48), chunk.payload.upperBound - start)
        change(start..<start + length)
    }

    private mutating func change(_ range: Range<Int>) {
        let changed = plain(Array(layout.bytes[range]), range.count)
        layout.replace(range, with: changed + layout.bytes[range].dropFirst(changed.count))
    }

    /// Puts a part of one chunk into another.
    private mutating func splicePayload() {
        guard let source = pickChunk(), let target = pickChunk(), let from = pick(source.payload),
            let to = pick(target.payload)
        else { return }
        let length = min(
            1 + generator.next(below: 64), source.payload.upperBound - from, target.payload.upperBound - to)
        layout.replace(to..<to + length, with: Array(layout.bytes[from..<from + length]))
    }

    /// Gives a chunk another length, as far as its commit has room, and moves those behind it.
    private mutating func resizePayload() {
        guard let chunk = pickChunk() else { return }
        let record = layout.records[chunk.record]
        let end = layout.chunks.filter { $0.record == chunk.record }.map(\.range.upperBound).max() ?? 0
        let old = Array(layout.bytes[chunk.payload])
        let new = plain(old, old.count + max(0, record - end - 4))
        let buffer = ByteBuffer()
        buffer.append(varint: UInt64(new.count))
        let tail = Array(layout.bytes[chunk.range.upperBound..<end])
        let start = chunk.range.lowerBound + 5
        var commit = buffer.view.array + new + tail
        guard !new.isEmpty, start + commit.count <= record else { return }
        commit += [UInt8](repeating: 0, count: max(0, end - start - commit.count))
        layout.replace(start..<start + commit.count, with: commit)
        layout = StoreLayout(layout.bytes)
    }

    /// Gives a record's field a value that means something, or nearly.
    private mutating func changeRecord() {
        guard let record = pick(layout.records) else { return }
        let wide = [16, 32, 40, 48, 56, 64, 72, 80, 88, 96, 120]
        switch generator.next(below: 8) {
        case 0: layout.set(UInt64(generator.next(below: 6)), at: record + 8, width: 1)
        case 1: layout.set(interesting(), at: record + [104, 108][generator.next(below: 2)], width: 4)
        default: layout.set(interesting(), at: record + (pick(wide) ?? 16))
        }
    }

    private mutating func interesting() -> UInt64 {
        switch generator.next(below: 8) {
        case 0: return UInt64(pick(layout.records) ?? 0)
        case 1: return UInt64(pick(layout.chunks)?.range.lowerBound ?? 0)
        case 2: return UInt64(pick(layout.records) ?? 0) + UInt64(CommitRecord.size)
        case 3: return UInt64(generator.next(below: 16))
        case 4: return UInt64(generator.next(below: max(1, layout.bytes.count)))
        case 5: return UInt64(generator.next(below: 16) * Format.blockSize)
        case 6: return 1 << UInt64(generator.next(below: 64))
        default: return UInt64.max - UInt64(generator.next(below: 300))
        }
    }

    private mutating func changeHeader() {
        let start = generator.chance(0.5) ? 0 : Format.blockSize
        guard layout.bytes.count >= start + Format.blockSize else { return }
        let field = start + generator.next(below: 112)
        change(field..<field + 1 + generator.next(below: 8))
        if generator.chance(0.5), layout.bytes.count >= 2 * Format.blockSize {
            layout.replace(
                Format.blockSize - start..<2 * Format.blockSize - start,
                with: Array(layout.bytes[start..<start + Format.blockSize]))
        }
    }

    private mutating func cutOrExtend() {
        let blocks = layout.bytes.count / Format.blockSize
        var length =
            (generator.chance(0.5) ? generator.next(below: blocks + 1) : blocks + 1) * Format.blockSize
        if generator.chance(0.1) { length += generator.next(below: Format.blockSize) }
        length = min(length, largest)
        let kept = layout.bytes.prefix(length)
        layout = StoreLayout(kept + [UInt8](repeating: 0, count: length - kept.count))
    }

    /// Appends a copy of a commit as if it were one more.
    private mutating func repeatCommit() {
        guard let record = pick(layout.records), let last = layout.records.last else { return }
        let start = Int(clamping: layout.integer(record + 32))
        let end = record + CommitRecord.size
        let place = last + CommitRecord.size
        guard start >= 0, start < record, place == layout.bytes.count, place + end - start <= largest else {
            return
        }
        var copy = StoreLayout(layout.bytes + layout.bytes[start..<end])
        let new = place + record - start
        let number = copy.integer(last + 16)
        copy.set(number &+ 1, at: new + 16)
        copy.set(UInt64(place), at: new + 32)
        copy.set(UInt64(last), at: new + 40)
        for field in [56, 64, 88, 96] where copy.integer(new + field) >= UInt64(start) {
            copy.set(copy.integer(new + field) &+ UInt64(place - start), at: new + field)
        }
        layout = StoreLayout(copy.bytes)
    }

    /// Exchanges two slots of a node, with which keys and children change places.
    private mutating func swapReferences() {
        let nodes = layout.chunks.filter { $0.kind == .node && $0.payload.count > 24 }
        guard let node = pick(nodes) else { return }
        let count = Int(layout.bytes[node.payload.lowerBound + 2])
        let slots = node.payload.lowerBound + 8 + Int(layout.bytes[node.payload.lowerBound + 4])
        guard count > 1, slots + 8 * count <= node.payload.upperBound else { return }
        let (a, b) = (slots + 8 * generator.next(below: count), slots + 8 * generator.next(below: count))
        let (first, second) = (layout.integer(a), layout.integer(b))
        // The whole slot, or the cell's place alone.
        let (shift, width) = generator.chance(0.5) ? (0, 8) : (6, 2)
        layout.set(second >> UInt64(8 * shift), at: a + shift, width: width)
        if generator.chance(0.7) { layout.set(first >> UInt64(8 * shift), at: b + shift, width: width) }
    }
}
