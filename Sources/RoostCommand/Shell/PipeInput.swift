import Foundation

/// Lines from a pipe or file that is standard input.
final class PipeInput: LineInput {
    private let input: InputFile
    private var piece: [UInt8] = []
    private var waiting: [UInt8] = []
    private var start = 0
    private var isFirst = true

    let isInteractive = false

    /// Takes standard input, and leaves an empty one to the commands: they must not read the lines that come after theirs.
    init() throws {
        let descriptor = dup(STDIN_FILENO)
        guard descriptor >= 0 else { throw CommandFailure.system("Standard input can't be read") }
        input = InputFile(standardInput: descriptor)
        let empty = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard empty >= 0, dup2(empty, STDIN_FILENO) >= 0 else {
            throw CommandFailure.system("/dev/null can't be read")
        }
        close(empty)
    }

    func next(_ prompt: String, after typed: String) throws -> InputLine {
        guard var line = try nextLine() else { return .end }
        if isFirst, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
        isFirst = false
        if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
        return .line(line)
    }

    private func nextLine() throws -> String? {
        var searched = start
        while true {
            if let end = waiting[searched...].firstIndex(of: 10) {
                defer { start = end + 1 }
                return String(decoding: waiting[start..<end], as: UTF8.self)
            }
            waiting.removeFirst(start)
            start = 0
            searched = waiting.count
            // What has come is carried out before more is waited for: the other end may wait for the answer.
            try input.read(1 << 16, into: &piece)
            guard !piece.isEmpty else { break }
            waiting += piece
        }
        guard !waiting.isEmpty else { return nil }
        defer { waiting = [] }
        return String(decoding: waiting, as: UTF8.self)
    }

    func remember(_ statement: String) {}
}
