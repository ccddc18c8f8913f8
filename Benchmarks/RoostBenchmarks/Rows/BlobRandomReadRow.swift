/// B3: small pieces of the blob, anywhere: those that stand in one frame of an encrypted blob, and pages.
enum BlobRandomReadRow {
    /// The content of an encrypted blob's frame, and that of its first one (FileFormat.md, 18.1).
    private static let (frame, firstFrame) = (4_080, 3_960)
    private static let page = 4_096

    static func run(on stage: Stage) throws {
        let store = try stage.openBlobs()
        let frames = (stage.blobSize - firstFrame) / frame
        try measure(stage, store, frame, (.blobFrameReads, .blobFrameBytes)) {
            firstFrame + $0.next(below: frames) * frame
        }
        try measure(stage, store, page, (.blobPageReads, .blobPageBytes)) {
            $0.next(below: stage.blobSize - page)
        }
        try store.close()
    }

    private static func measure(
        _ stage: Stage, _ store: any BlobContender, _ length: Int, _ metrics: (rate: Metric, bytes: Metric),
        _ place: (inout SplitMix64) -> Int
    ) throws {
        var random = SplitMix64(seed: stage.corpus.seed)
        var buffer = [UInt8](repeating: 0, count: length)
        var sink = Sink()
        unsafe try buffer.withUnsafeMutableBytes { unsafe try store.read(into: $0, at: place(&random)) }
        var count = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                for _ in 0..<64 {
                    unsafe try buffer.withUnsafeMutableBytes {
                        unsafe try store.read(into: $0, at: place(&random))
                        unsafe sink.accept(UnsafeRawBufferPointer($0))
                    }
                }
                count += 64
            } while Clock.seconds(since: start) < stage.seconds
        }
        sink.finish()
        stage.record(metrics.rate, Double(count) / measurement.seconds)
        stage.record(metrics.bytes, measurement.bytesRead / Double(count))
    }
}
