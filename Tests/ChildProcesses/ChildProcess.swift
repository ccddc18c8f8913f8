import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `kill` by another name, since the method below has that one.
private func send(_ signal: Int32, to process: Int32) { _ = kill(process, signal) }

/// A program that is built beside the tests, running as a process of its own.
package final class ChildProcess {
    private let process: Process
    private let output: Pipe
    private let input: Pipe

    /// Held while a process is started. One that is started beside another inherits what tells Foundation that the other has ended,
    /// and then that isn't noticed before both have.
    private static let starting = Mutex(())

    package init(_ arguments: [String], of program: String = "CommitWriter") throws {
        let started = try Self.starting.withLock { _ in
            let (process, output, input) = (Process(), Pipe(), Pipe())
            process.executableURL = ChildProcess.directory.appendingPathComponent(program)
            process.arguments = arguments
            process.standardOutput = output
            process.standardInput = input
            try process.run()
            return (process, output, input)
        }
        (process, output, input) = started
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// Where the test bundle was built, and with it the program.
    private static var directory: URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        #endif
    }

    package var identifier: Int32 { process.processIdentifier }

    /// Ends the process without giving it a moment to do anything.
    package func kill() {
        send(SIGKILL, to: process.processIdentifier)
        process.waitUntilExit()
    }

    /// Asks the process to end, by a signal that it may handle, and waits until it has; its exit status.
    package func end(by signal: Int32) -> Int32 {
        send(signal, to: process.processIdentifier)
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// What the process has written since it was last asked; waits until there is something, or until it ended.
    package func read() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    /// All that the process wrote and nobody has read, until it ends.
    package func readToEnd() -> String {
        String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// Ends the process's standard input and waits for it to end.
    package func finish() -> Int32 {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
