import Foundation
import Testing

@testable import RoostCommand

/// Keys, and the history that they recall.
@Suite struct LineEditorTests {
    private func keys(_ text: String) -> [KeyPress] {
        var bytes = Array(text.utf8.reversed())
        var reader = KeyReader {
            bytes.popLast()
        } hasByte: {
            !bytes.isEmpty
        }
        var keys: [KeyPress] = []
        while let key = reader.next() { keys.append(key) }
        return keys
    }

    @Test func bytesBecomeKeys() {
        #expect(
            keys("aé\u{1}\u{1B}[A\u{1B}OH\u{1B}[1;5D\u{1B}b\u{1B}[3~\r") == [
                .text("aé"), .home, .up, .home, .wordLeft, .wordLeft, .deleteForward, .enter,
            ])
    }

    /// A paste is one key, whatever is in it, and its line ends are line feeds.
    @Test func aPasteIsOneKey() {
        #expect(
            keys("\u{1B}[200~a\r\nb\rc\n\n\u{1B}[A\t\u{1B}[201~x") == [
                .text("a\nb\nc\n\n\u{1B}[A\t"), .text("x"),
            ])
        #expect(keys("\u{1B}[200~\r\n\r\nx\u{1B}[201~") == [.text("\n\nx")])
        #expect(keys("\u{1B}[200~never ended") == [.text("never ended")])
    }

    @Test func controlCharactersAreShownAsSigns() {
        let line = EditedLine("a\nb\u{1B}c")
        #expect(line.part(within: 20).text == "a↵b␛c")
        #expect(line.part(within: 2).text == "␛c")
    }

    @Test func entriesOfShellsAtTheSameTimeAreKept() throws {
        let path = NSTemporaryDirectory() + "roost-history-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (first, second) = (LineHistory(path: path), LineHistory(path: path))
        first.add("SELECT 1\nFROM _;")
        second.add("count")
        second.add("count")
        second.add(" secret")
        first.add("ls")
        #expect(LineHistory(path: path).entries == ["SELECT 1\nFROM _;", "count", "ls"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func theHistoryIsSearchedBackwards() {
        let history = LineHistory(path: nil)
        for entry in ["get a", "count", "get b"] { history.add(entry) }
        var search = HistorySearch(history)
        search.append("get")
        #expect(search.found == "get b")
        search.searchOlder()
        #expect(search.found == "get a")
        search.searchOlder()
        #expect(search.found == "get a", "there is none that is older")
        search.append(" x")
        #expect(search.found == nil)
    }
}
