import Foundation

/// The side of the program that does the work: a process of its own for every sample, so that peak memory,
/// caches and counters belong to it alone.
enum Child {
    static let flag = "--child"

    /// Carries out the assignment and prints the outcome.
    static func run(_ json: String) throws {
        let assignment = try JSONDecoder().decode(Assignment.self, from: Data(json.utf8))
        let stage = Stage(
            entry: try ContenderCatalogue.named(assignment.contender),
            corpus: Corpus(count: assignment.docs, valueSize: assignment.valueSize, seed: assignment.seed),
            directory: assignment.directory,
            seconds: assignment.seconds,
            cacheSize: assignment.cacheSize, blobSize: assignment.blobSize, importFile: assignment.importFile,
            textFile: assignment.textFile)
        try assignment.row.run(on: stage)
        let figures = stage.figures.map { ($0.key.rawValue, $0.value) }
        let outcome = Outcome(
            figures: Dictionary(uniqueKeysWithValues: figures),
            progress: Dictionary(uniqueKeysWithValues: stage.progress.map { ($0.key.rawValue, $0.value) }),
            disturbance: stage.disturbance)
        print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
    }
}
