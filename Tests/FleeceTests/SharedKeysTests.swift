import Fleece
import Testing

@Suite struct SharedKeysTests {
    /// The examples of couchbase/fleece's `SharedKeysTests.cc`.
    @Test func eligibility() {
        for key in ["", "x", "aZ_019-", "abcdefghijklmnop", "-"] {
            #expect(SharedKeys.isEligible(key), "\(key)")
        }
        for key in ["@", "abc.jpg", "abcdefghijklmnopq", "two words", "aççents", "☠️"] {
            #expect(!SharedKeys.isEligible(key), "\(key)")
            var keys = SharedKeys()
            #expect(keys.add(key) == nil)
        }
    }

    @Test func numbersAreGivenInOrderAndKept() {
        var keys = SharedKeys()
        #expect(
            ["zero", "one", "two", "@", "three", "one", "zero"].map { keys.add($0) } == [
                0, 1, 2, nil, 3, 1, 0,
            ])
        #expect(keys.keys == ["zero", "one", "two", "three"])
        #expect(keys[2] == "two" && keys[4] == nil && keys[-1] == nil && keys[.max] == nil)
        #expect(keys.number(of: "three") == 3 && keys.number(of: "four") == nil)
        let before = keys
        keys.add("four")
        #expect(before.count == 4 && before.number(of: "four") == nil && keys.count == 5)
    }

    @Test func thereIsRoomFor2048() throws {
        var keys = SharedKeys()
        for number in 0..<SharedKeys.capacity { #expect(keys.add("K\(number)") == number) }
        #expect(keys.add("foo") == nil)
        for number in 0..<SharedKeys.capacity { #expect(keys.number(of: "K\(number)") == number) }
        let stored = try SharedKeys(encoded: keys.encoded())
        #expect(stored == keys)
        // Keys that found no room are written out.
        let body = try converted(#"{"foo": 1, "K2047": 2}"#, sharedKeys: keys)
        #expect(try root(body, sharedKeys: keys)["foo"].int == 1)
        #expect(try root(body, sharedKeys: keys)["K2047"].int == 2)
    }

    @Test func malformedLists() throws {
        #expect(failure { _ = try SharedKeys(["a", "a"]) }?.code == .malformedBody)
        #expect(failure { _ = try SharedKeys(["two words"]) }?.code == .malformedBody)
        for json in ["{}", "[1]", #"["a b"]"#, #"["a", "a"]"#] {
            let body = try converted(json)
            #expect(failure { _ = try SharedKeys(encoded: body) }?.code == .malformedBody, "\(json)")
        }
        #expect(failure { _ = try SharedKeys(encoded: [1, 2, 3]) }?.code == .malformedBody)
    }

    @Test func bodiesAreReadWithLongerLists() throws {
        let body = try converted(#"{"b": 1, "a": 2}"#, sharedKeys: SharedKeys())
        let longer = try SharedKeys(["b", "a", "c", "d"])
        #expect(try root(body, sharedKeys: longer).json(.canonical) == #"{"a":2,"b":1}"#)
        #expect(failure { _ = try root(body, sharedKeys: SharedKeys(["b"])) }?.code == .unknownSharedKey)
        #expect(failure { _ = try root(body) }?.code == .unknownSharedKey)
        // Trusted without the list, keys have no names, but nothing else happens.
        let blind = FleeceDocument(trusting: body)
        #expect(blind["a"].kind == .undefined)
        #expect(blind.root.json() == ##"{"#0":1,"#1":2}"##)
    }

    @Test func spelledOutKeysAreFoundAllTheSame() throws {
        let keys = try SharedKeys(["a", "b"])
        let value = try root(converted(#"{"a": 1, "c d": 2}"#), sharedKeys: keys)
        #expect(value["a"].int == 1)
        #expect(value["c d"].int == 2)
        #expect(!value["b"].exists)
    }
}
