import Fleece
import Foundation
import RoostWire
import Testing

@testable import RoostREST

/// `_bulk_docs` in parts, and its text taken apart.
@Suite struct BulkSavingTests {
    @Test func manyDocumentsComeInTheirOrder() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await test.ask("PUT", "/db/d4500", "{}")
        let docs = (0..<5_000).map { #"{"_id":"d\#($0)"}"# }.joined(separator: ",")
        let answer = try await test.ask("POST", "/db/_bulk_docs", #"{"docs":[\#(docs)]}"#)
        #expect(answer.status == 201)
        let rows = try #require(answer.json as? [[String: Any]])
        #expect(rows.map { $0["id"] as? String } == (0..<5_000).map { "d\($0)" })
        #expect(rows.indices.filter { rows[$0]["error"] != nil } == [4_500])
        #expect(try await test.ask("GET", "/db")["doc_count"] as? Int == 5_000)
    }

    @Test(arguments: ["7", #"{"_id":"_no"}"#, #"{"_id":7}"#, #"{"_bad":1}"#, "{", #"{"a":tru}"#])
    func whatIsNoDocumentIsAnErrorOfAll(last: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for count in [1, 2_500] {
            let docs = (0..<count).map { #"{"_id":"d\#($0)"}"# }.joined(separator: ",")
            let answer = try await test.ask("POST", "/db/_bulk_docs", #"{"docs":[\#(docs),\#(last)]}"#)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try await test.ask("GET", "/db")["doc_count"] as? Int == 0)
        }
    }

    /// A replicator's list with documents that nothing here can hold: they are told, and hold up none of the others.
    @Test(arguments: [1, 2_500]) func aDocumentThatCannotBeReadHoldsUpNoOther(count: Int) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let (open, close) = (String(repeating: "[", count: 600), String(repeating: "]", count: 600))
        let bad = [
            #"{"_id":"deep","_rev":"1-aa","v":\#(open)\#(close)}"#,
            #"{"v":\#(open)\#(close),"_rev":"2-bb","_id":"e\u0301","_revisions":{"start":2,"ids":["bb","aa"]}}"#,
            #"{"_id":"half","_rev":"1-cc","text":"\ud83d"}"#,
        ]
        let good = (0..<count).map { #"{"_id":"d\#($0)","_rev":"1-aa"}"# }
        let docs = ([bad[0]] + good + bad[1...]).joined(separator: ",")
        let answer = try await test.ask("POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[\#(docs)]}"#)
        let rows = try #require(answer.json as? [[String: Any]], "\(answer.text)")
        #expect(answer.status == 201)
        #expect(rows.map { $0["id"] as? String } == ["deep", "e\u{301}", "half"])
        #expect(rows.map { $0["rev"] as? String } == ["1-aa", "2-bb", "1-cc"])
        #expect(rows.allSatisfy { $0["error"] as? String == "forbidden" })
        #expect(try await test.ask("GET", "/db")["doc_count"] as? Int == count)
        // Whoever edits is told that the request is wrong, and so is who sends what has no name.
        for docs in [bad[0], #"{"v":\#(open)\#(close)}"#] {
            let edits = docs.contains("_id")
            let answer = try await test.ask(
                "POST", "/db/_bulk_docs", #"{"new_edits":\#(edits),"docs":[\#(docs)]}"#)
            #expect(answer.status == 400)
        }
    }

    @Test func theTextIsTakenApartAsTheParserDoes() throws {
        let texts = [
            #"{"docs":[{},{"a":[1,{"b":"]}"}]}],"new_edits":false}"#, #" { "docs" : [ ] } "#, "{}",
            #"{"new_edits":true,"docs":[ {"_id":"\"}"} , {"\\":"\\"}, [1], "x", 1, null ]}"#,
            #"{"docs":{"a":[]}}"#, #"{"docs":7,"x":null}"#, #"{"\u0064ocs":[{"a":1}]}"#,
            #"{"docs":[1],"docs":[2,3]}"#,
        ]
        for text in texts {
            let (parts, whole) = (try BulkText(Array(text.utf8)), try FleeceDocument(json: text).root)
            switch parts.documents {
            case .missing: #expect(!whole["docs"].exists)
            case .noArray: #expect(whole["docs"].exists && whole["docs"].array == nil)
            case .array(let places, let end):
                let documents = try zip(places, places.dropFirst() + [end]).map {
                    try parts.document(at: $0, before: $1).root.json()
                }
                #expect(documents == whole["docs"].array?.map { $0.json() }, "\(text)")
            }
            for (name, value) in parts.options { #expect(value.root.json() == whole[name].json()) }
        }
    }

    /// Bodies with a byte left out, doubled or put in another one's place: what the parser refuses is refused here, too, when the documents
    /// are parsed, and the other way round.
    @Test func whatTheParserRefusesIsRefused() throws {
        let text = Array(#"{"docs":[{"a":[1,{"b":"\n]}"}]} , {}],"new_edits":false,"x":[{"y":-1.5e3}]}"#.utf8)
        for index in text.indices {
            for change in 0..<3 {
                for byte in change == 2 ? Array("{}[]:,\"\\ 0t".utf8) : [0] {
                    var broken = text
                    switch change {
                    case 0: broken.remove(at: index)
                    case 1: broken.insert(text[index], at: index)
                    default: broken[index] = byte
                    }
                    let whole = try? FleeceDocument(json: broken)
                    let isObject = whole?.root.kind == .dictionary
                    let isTaken =
                        (try? {
                            let parts = try BulkText(broken)
                            guard case .array(let places, let end) = parts.documents else { return }
                            for (place, next) in zip(places, places.dropFirst() + [end]) {
                                _ = try parts.document(at: place, before: next)
                            }
                        }()) != nil
                    #expect(isTaken == isObject, "\(String(decoding: broken, as: UTF8.self))")
                }
            }
        }
    }
}
