import Foundation

/// D2: the command line tool importing a file of JSON lines, from the start of its process to its end.
enum ImportRow {
    static func run(on stage: Stage) throws {
        let file = try stage.importFile ?? makeFile(on: stage)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("roost")
        process.arguments = ["import", stage.directory + "/imported", file]
        process.standardOutput = FileHandle.nullDevice
        let measurement = try stage.measure {
            try process.run()
            process.waitUntilExit()
        }
        guard process.terminationStatus == 0 else { throw BenchmarkError("roost import failed") }
        let lines = try Data(contentsOf: URL(fileURLWithPath: file)).count { $0 == UInt8(ascii: "\n") }
        stage.record(.jsonImport, Double(lines) / measurement.seconds)
        stage.record(.jsonImportMemory, Double(PeakMemory.ofChildren) / 1e6)
    }

    /// The documents of row D3 in the order of their IDs, written a few at a time: memory that this process has had would count
    /// as the other one's.
    private static func makeFile(on stage: Stage) throws -> String {
        // IDs are numbers of 16 hexadecimal digits.
        let order = (0..<stage.corpus.count).sorted {
            SplitMix64.mix(UInt64($0)) < SplitMix64.mix(UInt64($1))
        }
        let path = stage.directory + "/notes.jsonl"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        for start in stride(from: 0, to: order.count, by: 1_000) {
            let notes = order[start..<min(start + 1_000, order.count)].map { Note($0) }
            let lines = notes.map { #"{"_id":"\#($0.id)",\#($0.json.dropFirst())"# + "\n" }
            try file.write(contentsOf: Data(lines.joined().utf8))
        }
        try file.close()
        return path
    }
}
