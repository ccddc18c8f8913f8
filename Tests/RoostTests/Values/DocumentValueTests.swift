import Foundation
import Roost
import Testing

/// Reading and assigning parts of values, there for certain and optional.
@Suite struct DocumentValueTests {
    @Test func partsAreAssigned() throws {
        var value: DocumentValue = ["list": [1, 2], "inner": ["a": true]]
        value["inner"]["a"].bool = false
        value["inner"]["bytes"].data = Data([1, 2])
        value["list"][2] = 3
        value["list"][-3] = nil
        value[path: "new.deep"] = "x"
        #expect(
            try value.json() == #"{"inner":{"a":false,"bytes":"AQI="},"list":[2,3],"new":{"deep":"x"}}"#)
        value["inner"].dictionary = ["b": 1]
        value["inner"]["b"].int = nil
        #expect(value["inner"] == [:])
        value["inner"].dictionary = nil
        #expect(value["inner"] == nil && value.dictionary?.count == 2)
        value[path: "new.deep"] = nil
        #expect(value[path: "new.deep"] == nil && value["new"] == [:])
    }

    @Test func elementsAreAssigned() {
        var list: DocumentValue = ["a", "b"]
        list[0] = "c"
        list[2] = "d"
        list[9] = "too far"
        #expect(list == ["c", "b", "d"])
        #expect(list[-1]?.string == "d")
        for index in [3, -4, .max, .min] { #expect(list[index]?.string == nil) }
        list[0] = nil
        #expect(list == ["b", "d"])
        list.array = nil
        #expect(list.isNull)
        list[0] = "no array"
        #expect(list.isNull)
        list.dictionary = ["k": 1]
        #expect(list["k"]?.int == 1)
        list.dictionary = nil
        #expect(list.isNull)
    }

    @Test func valuesAreReadAsWhatTheyAre() {
        #expect(DocumentValue.bool(true).bool == true && DocumentValue.string("true").bool == nil)
        #expect(DocumentValue.integer(7).int == 7 && DocumentValue.integer(7).double == 7)
        #expect(DocumentValue.double(7.5).int == nil && DocumentValue.double(7.5).double == 7.5)
        #expect(DocumentValue.unsigned(.max).int == nil)
        #expect(DocumentValue.string("é").string == "é" && DocumentValue.null.string == nil)
        #expect(DocumentValue.data([1]).data == Data([1]) && DocumentValue.string("AQ==").data == nil)
        #expect(DocumentValue.string("2023-11-14T22:13:20Z").date == Date(timeIntervalSince1970: 1.7e9))
        #expect(DocumentValue.string("yesterday").date == nil && DocumentValue.null.isNull)
        #expect(DocumentValue.null.array == nil && DocumentValue.array([1]).array == [1])
        #expect(DocumentValue.array([1]).dictionary == nil)
    }

    @Test func documentsAndCollectionsAreMembersOfSets() throws {
        let files = try TemporaryDatabase()
        let database = try files.open()
        let notes = try database.collection("notes")
        let first = try notes.save(json: #"{"v":1}"#, id: "a")
        let second = try notes.save(json: #"{"v":2}"#, id: "a")
        let read = try #require(try notes["a"])
        #expect(Set([first, second, read]) == [first, read])
        let (again, other) = (try database.collection("notes"), try database.collection("other"))
        #expect(Set([notes, again, other]) == [notes, other])
        #expect(second.jsonBytes() == Array(#"{"v":2}"#.utf8))
    }
}
