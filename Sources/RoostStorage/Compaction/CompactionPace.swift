import RoostFile

/// Keeps a compaction within its speed, tells how far it is, and stops it when asked to.
final class CompactionPace {
    private let control: CompactionControl
    private let clock: any WallClock
    private let bytesPerSecond: Double?
    private let meter: ProgressMeter
    private let start: UInt64

    /// - Parameter bytesTotal: bytes that lived when the compaction began.
    init(
        control: CompactionControl, clock: any WallClock, bytesPerSecond: Int?, bytesTotal: UInt64,
        progress: ProgressHandler?
    ) {
        self.control = control
        self.clock = clock
        self.bytesPerSecond = bytesPerSecond.map { Double(max($0, 1)) }
        meter = ProgressMeter(total: bytesTotal, progress)
        start = clock.monotonic()
    }

    /// Notes a step of the copy: bytes read of what lives, and bytes written altogether. Waits if that was too fast.
    func copied(_ bytes: UInt64, writtenEnd: UInt64) throws(StoreError) {
        try control.check()
        try meter.advance(bytes)
        guard let bytesPerSecond else { return }
        let due = Double(writtenEnd) / bytesPerSecond
        while !control.isCancelled {
            let early = due - seconds
            guard early > 0 else { return }
            control.pause(min(early, 0.25))
        }
        try control.check()
    }

    /// Tells that the copy is complete.
    func finishedCopy() throws(StoreError) { try meter.complete() }

    /// Stops a cancelled compaction, without telling anybody anything: others may be waiting.
    func check() throws(StoreError) { try control.check() }

    /// Since the start.
    var seconds: Double { Double(clock.monotonic() &- start) / 1_000_000 }
}
