import Foundation

/// The directories of the stores: for each contender the states that rows start from, and one that is worked in.
struct Workshop {
    private let root: String
    private let storeBytes: Int

    /// `storeBytes` is the size of all documents.
    init(root: String, storeBytes: Int) throws {
        self.root = root
        self.storeBytes = storeBytes
        try FileTree.empty(root)
    }

    /// Whether `contender` has left `state`.
    func has(_ state: Row.State, of contender: String) -> Bool {
        state == .empty || FileManager.default.fileExists(atPath: path(state, contender))
    }

    /// A directory with a copy of `state`, on the medium and in the page cache, and memory that has been
    /// touched.
    func prepare(_ state: Row.State, of contender: String) throws -> String {
        let directory = root + "/work"
        if state == .empty {
            try FileTree.empty(directory)
        } else {
            try FileTree.copy(path(state, contender), to: directory)
        }
        Warmth.settle()
        Warmth.readFiles(in: directory)
        Warmth.touchMemory(min(2 * storeBytes + 128 << 20, 2 << 30))
        return directory
    }

    /// Keeps what was made in `directory` as `state`, unless there is one already.
    func keep(_ directory: String, as state: Row.State, of contender: String) throws {
        if has(state, of: contender) { return }
        try FileManager.default.moveItem(atPath: directory, toPath: path(state, contender))
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: root)
    }

    private func path(_ state: Row.State, _ contender: String) -> String {
        "\(root)/\(contender)-\(state.rawValue)"
    }
}
