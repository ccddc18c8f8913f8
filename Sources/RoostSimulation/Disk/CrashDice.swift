/// Decides, change by change, what a crash leaves.
///
/// Pure chance for each sector would tear every longer write and hardly ever show the plain cases, so every crash
/// first draws a pattern: nothing survives, all does, a prefix in order, all but one, or each change for itself with
/// some probability.
struct CrashDice {
    private enum Pattern {
        case nothing
        case everything
        /// Changes before the sequence number survive, that one is torn, later ones are lost.
        case prefix(UInt64)
        /// The change of this sequence number is torn, all others survive.
        case hole(UInt64)
        case mixture(Double)
    }

    private enum Fate {
        case lost
        case whole
        /// Each sector (or byte) for itself, with this probability of survival.
        case torn(Double)
    }

    private static let sectorSize = 512

    private let pattern: Pattern
    private let tearing: Tearing
    private(set) var generator: SeededGenerator

    /// - Parameter range: The sequence numbers that unsynced changes may have.
    init(_ fate: CrashFate, _ tearing: Tearing, _ range: Range<UInt64>, _ generator: SeededGenerator) {
        var generator = generator
        self.tearing = tearing
        pattern =
            switch fate {
            case .losesAll: .nothing
            case .keepsAll: .everything
            case .random:
                switch generator.next(below: 8) {
                case 0: .nothing
                case 1: .everything
                case 2, 3: .prefix(range.lowerBound + UInt64(generator.next(below: max(1, range.count))))
                case 4: .hole(range.lowerBound + UInt64(generator.next(below: max(1, range.count))))
                default: .mixture(Double(1 + generator.next(below: 9)) / 10)
                }
            }
        self.generator = generator
    }

    /// Whether an indivisible change survives: a name's, or a size's.
    mutating func survives(_ sequence: UInt64) -> Bool {
        switch pattern {
        case .nothing: false
        case .everything: true
        case .prefix(let cut): sequence == cut ? generator.chance(0.5) : sequence < cut
        case .hole(let place): sequence != place || generator.chance(0.5)
        case .mixture(let probability): generator.chance(probability)
        }
    }

    /// Applies to `image` what survives of a write: its sectors (or bytes), and for itself the growth of the file.
    mutating func apply(
        _ bytes: [UInt8], at offset: UInt64, sequence: UInt64, to image: inout FileImage,
        beyond oldSize: UInt64
    ) {
        let fate = fateOfWrite(sequence)
        if survives(sequence) { image.extend(to: offset + UInt64(bytes.count)) }
        switch fate {
        case .lost: break
        case .whole: unsafe bytes.withUnsafeBytes { unsafe image.store($0, at: offset) }
        case .torn(let probability):
            unsafe bytes.withUnsafeBytes { unsafe tear($0, at: offset, probability, into: &image, oldSize) }
        }
    }

    private mutating func fateOfWrite(_ sequence: UInt64) -> Fate {
        switch pattern {
        case .nothing: return .lost
        case .everything: return .whole
        case .prefix(let cut): return sequence == cut ? .torn(0.5) : sequence < cut ? .whole : .lost
        case .hole(let place): return sequence == place ? .torn(0.5) : .whole
        case .mixture(let probability):
            if generator.chance(0.5) { return .torn(probability) }
            return generator.chance(probability) ? .whole : .lost
        }
    }

    private mutating func tear(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ probability: Double,
        into image: inout FileImage,
        _ oldSize: UInt64
    ) {
        for sector in PageParts(offset: offset, count: bytes.count, unit: Self.sectorSize) {
            let start = sector.source.lowerBound
            let place = offset + UInt64(start)
            let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[sector.source])
            if tearing == .bytes, generator.chance(0.25) {
                let survivors = sector.source.map { _ in generator.chance(probability) }
                unsafe image.store(piece, at: place) { survivors[$0] }
            } else if generator.chance(probability) {
                unsafe image.store(piece, at: place)
            } else if place >= oldSize, generator.chance(0.25) {
                storeLeftovers(count: piece.count, at: place, into: &image)
            }
        }
    }

    /// Space that a file got just before the crash may show what was there before: here, random bytes.
    private mutating func storeLeftovers(count: Int, at place: UInt64, into image: inout FileImage) {
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
            unsafe generator.fill(buffer)
            unsafe image.store(UnsafeRawBufferPointer(buffer), at: place)
        }
    }
}
