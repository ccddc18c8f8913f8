import Foundation

/// Starts this program again as a child and waits for what it reports.
enum ChildProcess {
    static func perform(_ assignment: Assignment) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            Child.flag, String(decoding: try JSONEncoder().encode(assignment), as: UTF8.self),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("\(assignment.row.rawValue) failed for \(assignment.contender)")
        }
        return try JSONDecoder().decode(Outcome.self, from: data)
    }
}
