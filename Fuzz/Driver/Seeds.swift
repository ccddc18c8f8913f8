import Foundation

/// The inputs that targets start from, as files.
enum Seeds {
    /// Writes the seeds of all targets to folders named after their corpora.
    static func write(to directory: URL) throws {
        for target in FuzzTarget.all {
            let folder = directory.appendingPathComponent(target.corpus)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (number, seed) in try target.seeds().enumerated() {
                try Data(seed).write(to: folder.appendingPathComponent("\(target.corpus)-\(number)"))
            }
        }
    }
}
