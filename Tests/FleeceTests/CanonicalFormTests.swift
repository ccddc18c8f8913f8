import Fleece
import Testing

@Suite struct CanonicalFormTests {
    private func form(_ document: FleeceDocument) -> [UInt8] {
        var form = CanonicalForm()
        form.append(document.root)
        return unsafe form.withBytes { unsafe Array($0) }
    }

    private func form(json: String) throws -> [UInt8] { form(try FleeceDocument(json: json)) }

    @Test func eachKindHasItsByte() throws {
        #expect(try form(json: "null") == [0])
        #expect(try form(json: "[false,true]") == [8, 1, 2, 10])
        #expect(try form(json: "-2") == [3, 0xFE] + [UInt8](repeating: 0xFF, count: 7))
        #expect(try form(json: "9223372036854775808") == [4, 0, 0, 0, 0, 0, 0, 0, 0x80])
        #expect(try form(json: "1.0") == [5, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
        #expect(try form(json: #""\u00e9""#) == [6, 2, 0xC3, 0xA9])
        #expect(try form(json: #"{"":[],"b":{}}"#) == [9, 6, 0, 8, 10, 6, 1, 0x62, 9, 10, 10])
        var writer = FleeceWriter()
        writer.write(data: [UInt8](repeating: 7, count: 200))
        let data = FleeceDocument(trusting: try writer.finish())
        #expect(form(data) == [7, 0xC8, 0x01] + [UInt8](repeating: 7, count: 200))
    }

    @Test func itDoesNotDependOnTheLayout() throws {
        let many = (0..<3000).map { "\"key \($0)\":\"value\"" }
        #expect(
            try form(json: "{\(many.joined(separator: ","))}")
                == form(json: "{\(many.reversed().joined(separator: ","))}"))
        #expect(try form(json: #"{"a":1,"b":2,"a":3}"#) == form(json: #"{"b":2,"a":3}"#))
        #expect(try form(json: "1.5") == form(json: "15e-1"))
        #expect(try form(json: "1") != form(json: "1.0"))
    }

    @Test func membersWithoutAValueAreLeftOut() throws {
        var writer = FleeceWriter()
        writer.beginDictionary()
        writer.key("a")
        writer.writeUndefined()
        writer.key("b")
        writer.write(true)
        writer.endDictionary()
        let document = FleeceDocument(trusting: try writer.finish())
        #expect(form(document) == [9, 6, 1, 0x62, 2, 10])
    }
}
