import Foundation

@testable import RoostCommand

/// The tool with a database of its own, which goes with the value.
final class Tool: Sendable {
    let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The tool that was built with the tests.
    static var program: String {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let directory = (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        #endif
        return directory.appending(path: "roost").path
    }

    /// Runs `command` on the database; answers the exit status and what was printed, errors too.
    func run(_ command: String, _ arguments: String...) -> (status: Int32, output: String) {
        run([command, path] + arguments)
    }

    /// Runs the tool with these arguments, which name the database.
    func run(_ arguments: [String]) -> (status: Int32, output: String) {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) { RoostTool.run(arguments) }
        return (status, collector.content)
    }

    /// Calls what waits with its thread for tasks: that thread must be none of those that run them, of which there are as many as
    /// processors.
    static func onItsOwnThread<R: Sendable>(_ call: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: call()) }
        }
    }

    /// What a command prints that ends well; "" if it does not.
    func output(_ command: String, _ arguments: String...) -> String {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) { RoostTool.run([command, path] + arguments) }
        return status == 0 ? collector.content : ""
    }
}
