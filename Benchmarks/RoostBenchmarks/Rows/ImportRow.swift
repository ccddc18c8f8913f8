import Foundation

/// D2: the command line tool importing a file of JSON lines, from the start of its process to its end.
enum ImportRow {
    static func run(on stage: Stage) throws {
        let lines = try Data(contentsOf: URL(fileURLWithPath: stage.importFile)).count {
            $0 == UInt8(ascii: "\n")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("roost")
        process.arguments = ["import", stage.directory + "/imported", stage.importFile]
        process.standardOutput = FileHandle.nullDevice
        let measurement = try stage.measure {
            try process.run()
            process.waitUntilExit()
        }
        guard process.terminationStatus == 0 else { throw BenchmarkError("roost import failed") }
        stage.record(.jsonImport, Double(lines) / measurement.seconds)
        stage.record(.jsonImportMemory, Double(PeakMemory.ofChildren) / 1e6)
    }
}
