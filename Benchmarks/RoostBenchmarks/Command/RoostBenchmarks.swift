import Foundation
import RoostScript

/// The benchmark program.
@main
enum RoostBenchmarks {
    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == RoostHTTP.scriptWorker { return ScriptWorker.run() }
            if arguments.first == Child.flag, arguments.count == 2 {
                try Child.run(arguments[1])
            } else {
                try run(Options(arguments))
            }
        } catch {
            Console.note("roost-bench: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        if options.wantsHelp { return print(Usage.text) }
        ContenderCatalogue.leftOut.forEach(Console.note)
        if !options.scale.isEmpty { return try ScalingRun.run(options) }
        let results = try Conductor(options).run()
        print(MarkdownReport(results).text)
        if let file = options.jsonFile { try results.json().write(to: URL(fileURLWithPath: file)) }
        if let directory = options.results { try ResultFiles.write(results, to: directory) }
        if let failure = results.failures.first { throw failure }
    }
}
