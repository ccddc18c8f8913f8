import Fleece
import Testing

@Suite struct WriterTests {
    @Test func callsOutOfOrderAreErrors() {
        let mistakes: [(String, (inout FleeceWriter) -> Void)] = [
            ("no value", { _ in }),
            (
                "two values",
                {
                    $0.write(1); $0.write(2)
                }
            ),
            ("unclosed array", { $0.beginArray() }),
            ("unclosed dictionary", { $0.beginDictionary() }),
            (
                "end without begin",
                {
                    $0.write(1); $0.endArray()
                }
            ),
            (
                "array ended as dictionary",
                {
                    $0.beginArray(); $0.endDictionary()
                }
            ),
            (
                "dictionary ended as array",
                {
                    $0.beginDictionary(); $0.endArray()
                }
            ),
            (
                "value without key",
                {
                    $0.beginDictionary(); $0.write(1); $0.endDictionary()
                }
            ),
            (
                "collection without key",
                {
                    $0.beginDictionary(); $0.beginArray(); $0.endArray(); $0.endDictionary()
                }
            ),
            (
                "key without value",
                {
                    $0.beginDictionary(); $0.key("a"); $0.endDictionary()
                }
            ),
            (
                "two keys",
                {
                    $0.beginDictionary(); $0.key("a"); $0.key("b"); $0.write(1); $0.endDictionary()
                }
            ),
            (
                "key in array",
                {
                    $0.beginArray(); $0.key("a"); $0.endArray()
                }
            ),
            ("key outside", { $0.key("a") }),
        ]
        for (name, mistake) in mistakes {
            var writer = FleeceWriter()
            mistake(&writer)
            let error = failure { _ = try writer.finish() }
            #expect(error?.code == .misuse, "\(name)")
            // The writer is good for another body.
            writer.write(true)
            #expect(failure { _ = try writer.finish() } == nil, "\(name)")
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func numbersThatAreNotFiniteAreErrors(number: Double) {
        #expect(failure { _ = try written { $0.write(number) } }?.code == .unrepresentableNumber)
    }

    @Test func nestingIsLimited() {
        func nested(_ depth: Int) throws -> [UInt8] {
            try written { writer in
                for _ in 0..<depth { writer.beginArray() }
                for _ in 0..<depth { writer.endArray() }
            }
        }
        #expect(failure { _ = try nested(FleeceLimits.maximumDepth) } == nil)
        #expect(failure { _ = try nested(FleeceLimits.maximumDepth + 1) }?.code == .tooDeep)
        #expect(failure { _ = try nested(100_000) }?.code == .tooDeep)
    }

    @Test func copiesCountTheirDepth() throws {
        let deep = try FleeceDocument(
            json: String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        ).root
        func within(_ depth: Int) throws -> [UInt8] {
            try written { writer in
                for _ in 0..<depth { writer.beginArray() }
                writer.write(deep)
                for _ in 0..<depth { writer.endArray() }
            }
        }
        #expect(failure { _ = try FleeceDocument(validating: within(12)) } == nil)
        #expect(failure { _ = try within(13) }?.code == .tooDeep)
    }

    @Test func writersAreUsedAgain() throws {
        var writer = FleeceWriter()
        var bodies: [[UInt8]] = []
        for _ in 0..<2 {
            for json in [#"{"a long key": ["a long value"]}"#, "[]", #"["a long key"]"#] {
                try writer.write(json: json)
                bodies.append(try writer.finish())
            }
        }
        #expect(bodies[0] == bodies[3] && bodies[1] == bodies[4] && bodies[2] == bodies[5])
        #expect(try root(bodies[2])[0].string == "a long key")
    }

    @Test func failedJSONIsForgotten() throws {
        var writer = FleeceWriter()
        #expect(failure { try writer.write(json: #"{"a": [1, "#) }?.code == .malformedJSON)
        writer.removeAll()
        writer.write(5)
        #expect(try root(writer.finish()).int == 5)
    }

    /// A string out of a narrow pointer's reach is written again, rather than making its collection wide.
    @Test func farStringsAreRepeated() throws {
        for (length, occurrences) in [(100, 1), (32_000, 1), (33_000, 2)] {
            let long = String(repeating: "x", count: length)
            let body = try converted(#"["hello", "\#(long)", ["hello"]]"#)
            #expect(body.ranges(of: Array("hello".utf8)).count == occurrences, "\(length)")
            #expect(try root(body)[2][0].string == "hello")
        }
    }

    @Test func aMillionKeys() throws {
        var writer = FleeceWriter()
        writer.beginDictionary()
        for number in 0..<1_000_000 {
            writer.key("key \((number &* 7_919) % 1_000_000)")
            writer.write(number)
        }
        writer.endDictionary()
        let document = FleeceDocument(trusting: try writer.finish())
        #expect(document.root.dictionary?.count == 1_000_000)
        #expect(document["key 7919"].int == 1)
        #expect(document["key 0"].int == 0)
        #expect(!document["key 1000000"].exists)
    }
}
