import Foundation
import Synchronization

/// Shows what is printed page by page on a terminal: after each page a key is waited for.
final class Pager: Sendable {
    private struct Position {
        var lines = 0
        /// Whether no more is to be shown.
        var isOver = false
        /// Whether the rest is shown at once.
        var isOff = false
    }

    private let position = Mutex(Position())
    /// Whether Ctrl-C came: then nothing more is shown, and nothing asked.
    private let isInterrupted: @Sendable () -> Bool

    init(isInterrupted: @escaping @Sendable () -> Bool) { self.isInterrupted = isInterrupted }

    /// Whether whoever sits there has seen enough.
    var isOver: Bool { position.withLock { $0.isOver } }

    /// Whether a line may be printed; waits for a key where the page is full.
    func admits(_ line: String) -> Bool {
        guard !isInterrupted() else { return false }
        let width = line.reduce(0) { $0 + $1.columns }
        let height = max(1, (width + RawTerminal.columns - 1) / RawTerminal.columns)
        let isFull = position.withLock { position in
            guard !position.isOver, !position.isOff else { return false }
            defer { position.lines += height }
            return position.lines > 0 && position.lines + height > RawTerminal.rows - 1
        }
        if isFull { ask() }
        return !isOver
    }

    private func ask() {
        try? Console.flush()
        let terminal = RawTerminal()
        terminal.write("-- more -- (Space: a page, Enter: a line, a: all, q: no more)")
        let key = try? terminal.set(.keys) { terminal.byte() }
        terminal.write("\r\u{1B}[K")
        // What stops a statement stops it here, too.
        if key == RawTerminal.controlC { raise(SIGINT) }
        position.withLock { position in
            switch key {
            case UInt8(ascii: "q"), UInt8(ascii: "Q"), RawTerminal.controlC, 4, nil: position.isOver = true
            case UInt8(ascii: "a"), UInt8(ascii: "A"): position.isOff = true
            case 10, 13: position.lines -= 1
            default: position.lines = 0
            }
        }
    }
}
