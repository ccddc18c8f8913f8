import Roost
import Testing

@Suite struct CollectionNameTests {
    @Test(arguments: ["a", "Hotels", "0", "-", "a_b", "a%", "9-_%", String(repeating: "x", count: 251)])
    func good(_ name: String) throws {
        #expect(try CollectionName(name).description == "_default.\(name)")
        #expect(try CollectionName(name, scope: name).scope == name)
    }

    @Test(arguments: [
        "", "_", "_a", "_system", "_defaults", "%", "%a", "a.b", "a b", "a/b", "é", "a\u{301}", "Ａ", "a\n",
        "a\u{0}",
        String(repeating: "x", count: 252),
    ])
    func bad(_ name: String) {
        #expect(code { _ = try CollectionName(name) } == .invalidName)
        #expect(code { _ = try CollectionName("a", scope: name) } == .invalidName)
    }

    @Test func theDefaultCollectionIsOnlyInTheDefaultScope() throws {
        #expect(try CollectionName("_default") == .default)
        #expect(try CollectionName("hotels", scope: "_default") == CollectionName("hotels"))
        #expect(code { _ = try CollectionName("_default", scope: "travel") } == .invalidName)
    }

    @Test func upperAndLowerCaseDiffer() throws {
        #expect(try CollectionName("Hotels") != CollectionName("hotels"))
    }

    @Test func messagesSayWhatWhereAndWhatToDo() {
        let error = #expect(throws: DatabaseError.self) { try CollectionName("a.b", scope: "s") }
        #expect(
            error?.message
                == "The collection name \"a.b\" has \".\" as its character 2. Use only A-Z a-z 0-9 _ - and %."
        )
    }
}
