import Foundation

/// Files that a command writes because it was asked to.
enum OutputFile {
    /// Writes `text` to the file at `path`, in the place of what is there.
    static func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure("\(path) can't be written: \(error.localizedDescription)")
        }
    }
}
