import Fleece
import Testing

/// Random JSON to Fleece and back, compared with ``Model``.
@Suite struct RoundTripTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func jsonToFleeceToJSON(seed: UInt64) throws {
        var random = Random(state: seed)
        var writer = FleeceWriter()
        var sharingWriter = FleeceWriter(sharedKeys: SharedKeys())
        for _ in 0..<25 {
            let model = Model(random: &random, depth: 5)
            let json = model.json(&random)
            try writer.write(json: json)
            let plain = try root(writer.finish())
            #expect(Model(plain) == model, "\(json)")
            #expect(Model(try FleeceDocument(json: plain.json()).root) == model)
            #expect(Model(try FleeceDocument(json: plain.json(.pretty)).root) == model)

            try sharingWriter.write(json: json)
            let sharing = try root(sharingWriter.finish(), sharedKeys: sharingWriter.sharedKeys)
            #expect(Model(sharing) == model)
            #expect(sharing == plain)
            #expect(sharing.hashValue == plain.hashValue)
            #expect(sharing.json(.canonical) == plain.json(.canonical))

            let copy = try root(written { $0.write(sharing) })
            #expect(copy == plain)
        }
    }

    @Test func everyKeyIsFound() throws {
        var random = Random(state: 7)
        for count in [1, 2, 3, 10, 23, 24, 25, 100, 2046, 2047, 2048, 5000] {
            let keys = Set(
                (0..<count).map { _ in
                    "\(UInt16(truncatingIfNeeded: random.next()))" + Model.randomString(&random)
                })
            var writer = FleeceWriter()
            writer.beginDictionary()
            for (number, key) in keys.enumerated() {
                writer.key(key)
                writer.write(number)
            }
            writer.endDictionary()
            let value = try root(writer.finish())
            #expect(value.dictionary?.count == keys.count)
            for (number, key) in keys.enumerated() where value[key].int != number {
                Issue.record("\(key) is not found among \(count)")
            }
            #expect(!value["no such key"].exists)
        }
    }

    @Test(arguments: [0x7FE, 0x7FF, 0x800, 0x801, 0xFFFF])
    func longArrays(count: Int) throws {
        var writer = FleeceWriter()
        writer.beginArray()
        for number in 0..<count { writer.write(number) }
        writer.endArray()
        let value = try root(writer.finish())
        #expect(value.array?.count == count)
        #expect(value.array.map { $0.enumerated().allSatisfy { $0.offset == $0.element.int } } == true)
        #expect(value[count].kind == .undefined)
        #expect(value[-1].kind == .undefined)
    }

    /// Lengths around the reach of narrow pointers, of the collection's and of the root's.
    @Test func widening() throws {
        for length in Array(32_700...32_800) + Array(65_480...65_600) {
            let long = String(repeating: "x", count: length)
            let value = try root(
                written { writer in
                    writer.beginDictionary()
                    writer.key("greeting")
                    writer.write("hi there")
                    writer.key("long")
                    writer.write(long)
                    writer.key("again")
                    writer.write("hi there")
                    writer.endDictionary()
                })
            #expect(value["greeting"].string == "hi there")
            #expect(value["again"].string == "hi there")
            #expect(value["long"].string == long)
        }
    }

    @Test func largeBodyIsWide() throws {
        var random = Random(state: 99)
        let elements = (0..<9000).map { _ in Model(random: &random, depth: 1) }
        var writer = FleeceWriter()
        writer.beginArray()
        for element in elements { try writer.write(json: element.json(&random)) }
        writer.endArray()
        let body = try writer.finish()
        #expect(body.count > 2 * 0x7FFE)
        #expect(Array(body.suffix(2)) == [0x80, 0x02])
        #expect(Model(try root(body)) == .array(elements))
    }
}
