import Roost
import Testing

@Suite struct DocumentIDTests {
    @Test(arguments: [
        "a", "n1", "hotel-42", "a b", "ключ", "鍵", "👩‍👩‍👧", "1/2", "a_b", "-", ".", "%", "\u{A0}",
        "a\u{0}", "\u{1F}", "a\nb", "tab\t", "\u{7F}", "\u{85}", "\u{9F}",
        String(repeating: "x", count: 2048),
        String(repeating: "é", count: 1024),
    ])
    func ordinary(_ text: String) throws {
        let id = try DocumentID(text)
        #expect(id.kind == .ordinary)
        #expect(id.description == text)
        #expect(try DocumentID(utf8: Array(text.utf8)) == id)
    }

    @Test(arguments: [
        "", "_", "_id", "_all_docs", "_local", "_local/", "_design/", "_Local/x",
        String(repeating: "x", count: 2049),
        String(repeating: "é", count: 1025),
        "_local/" + String(repeating: "x", count: 2042),
    ])
    func refused(_ text: String) {
        #expect(code { _ = try DocumentID(text) } == .invalidDocumentID)
    }

    @Test func localAndDesignDocumentsAreApart() throws {
        #expect(try DocumentID("_local/checkpoint").kind == .local)
        #expect(try DocumentID("_design/views").kind == .design)
        #expect(try DocumentID("x_local/a").kind == .ordinary)
    }

    @Test(arguments: [[0xFF], [0x61, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3]] as [[UInt8]])
    func bytesThatAreNotUTF8AreRefused(_ bytes: [UInt8]) {
        #expect(code { _ = try DocumentID(utf8: bytes) } == .invalidDocumentID)
    }

    @Test func comparisonIsByBytes() throws {
        let composed = try DocumentID("\u{E9}")
        let decomposed = try DocumentID("e\u{301}")
        #expect(composed.string == decomposed.string, "Swift takes the two for equal")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(decomposed < composed)
        #expect(try DocumentID("Z") < DocumentID("a"))
    }

    @Test func messagesSayWhatWhereAndWhatToDo() {
        func message(_ text: String) -> String? {
            #expect(throws: DatabaseError.self) { try DocumentID(text) }?.message
        }
        #expect(
            message(String(repeating: "x", count: 3000))?.contains(
                "x\"… is 3000 bytes long, and the longest is 2048") == true)
        #expect(message("_id")?.contains("\"_id\" begins with an underscore, which is reserved") == true)
    }
}
