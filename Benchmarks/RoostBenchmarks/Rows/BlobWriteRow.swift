import Glibc

/// B1: a file of random bytes becomes a blob.
enum BlobWriteRow {
    static func run(on stage: Stage) throws {
        let source = stage.directory + "/source"
        try make(source, byteCount: stage.blobSize, seed: stage.corpus.seed)
        let memory = PeakMemory()
        let store = try stage.openBlobs()
        let measurement = try stage.measure { try store.store(source) }
        try store.close()
        stage.record(.blobWrite, Double(stage.blobSize) / measurement.seconds / 1e6)
        stage.record(.blobWriteMemory, memory.megabytes())
        unsafe unlink(source)
    }

    private static func make(_ path: String, byteCount: Int, seed: UInt64) throws {
        let file = unsafe open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        defer { close(file) }
        var random = SplitMix64(seed: seed)
        var words = [UInt64](repeating: 0, count: 1 << 15)
        for start in stride(from: 0, to: byteCount, by: 1 << 18) {
            for index in words.indices { words[index] = random.next() }
            let count = min(1 << 18, byteCount - start)
            guard unsafe write(file, words, count) == count else {
                throw BenchmarkError("could not write \(path)")
            }
        }
    }
}
