import Foundation
import RoostREST
import RoostWire
import Testing

/// `_find`, and the indexes that serve it, over the wire.
@Suite struct FindTests {
    @Test func findsDocuments() async throws {
        let test = try await TestRouter.stars()
        func find(_ request: String) async throws -> TestRouter.Answer {
            try await test.ask("POST", "/db/_find", request)
        }
        let found = try await find(
            #"{"selector":{"stars":{"$gt":5}},"fields":["_id","stars"],"sort":[{"stars":"desc"}]}"#)
        #expect(
            found.text.contains(
                #"{"docs":[{"_id":"d8","stars":8},{"_id":"d7","stars":7},{"_id":"d6","stars":6}]"#))
        #expect(found["warning"] != nil)
        let first = try await find(
            #"{"selector":{"kind":"a"},"fields":["_id"],"limit":3,"execution_stats":true}"#)
        #expect((first["docs"] as? [Any])?.count == 3)
        #expect((first["execution_stats"] as? [String: Any])?["results_returned"] as? Int == 3)
        let bookmark = try #require(first["bookmark"] as? String)
        let second = try await find(
            #"{"selector":{"kind":"a"},"fields":["_id"],"limit":3,"bookmark":"\#(bookmark)"}"#)
        #expect(second.text.hasPrefix(#"{"docs":[{"_id":"d8"}]"#))
        // Design documents are not found, whatever is asked, and don't count.
        try await test.put("/db/_design/app", #"{"kind":"a"}"#)
        let all = try await find(#"{"selector":{},"fields":["_id"],"limit":1}"#)
        #expect(all.text.hasPrefix(#"{"docs":[{"_id":"d1"}]"#))
        let design = try await find(#"{"selector":{"_id":"_design/app"}}"#)
        #expect(design.text.hasPrefix(#"{"docs":[]"#) && design["warning"] == nil)
        #expect(try await find(#"{"limit":1}"#)["error"] as? String == "missing_required_key")
        #expect(try await find(#"{"selector":{"a":{"$near":1}}}"#).status == 400)
        #expect(try await find(#"{"selector":{},"bookmark":"x"}"#)["error"] as? String == "invalid_bookmark")
        #expect(try await test.ask("GET", "/db/_find").status == 405)
    }

    @Test func indexesServeRequests() async throws {
        let test = try await TestRouter.stars()
        let definition = #"{"index":{"fields":["stars"]},"ddoc":"by","name":"stars"}"#
        let made = try await test.ask("POST", "/db/_index", definition)
        #expect(made["result"] as? String == "created" && made["id"] as? String == "_design/by")
        #expect(try await test.ask("POST", "/db/_index", definition)["result"] as? String == "exists")
        let list = try await test.ask("GET", "/db/_index")
        #expect(list["total_rows"] as? Int == 2)
        #expect(
            list.text.contains(
                #"{"ddoc":"_design/by","name":"stars","type":"json","partitioned":false,"def":{"fields":[{"stars":"asc"}]}}"#
            ))
        let request = #"{"selector":{"stars":{"$gt":7}},"fields":["_id"]}"#
        let explained = try await test.ask("POST", "/db/_explain", request)
        #expect((explained["index"] as? [String: Any])?["name"] as? String == "stars", "\(explained.text)")
        let found = try await test.ask("POST", "/db/_find", request)
        #expect(found.text.hasPrefix(#"{"docs":[{"_id":"d8"}]"#) && found["warning"] == nil)
        // An index that isn't used, since reading all documents takes less, is not missing.
        let most = try await test.ask("POST", "/db/_find", #"{"selector":{"stars":{"$gt":0}},"limit":3}"#)
        #expect((most["docs"] as? [Any])?.count == 3 && most["warning"] == nil, "\(most.text)")
        // What else the design document has stays.
        try await test.ask("POST", "/db/_index", #"{"index":{"fields":["kind"]},"ddoc":"by","name":"kind"}"#)
        #expect(try await test.ask("DELETE", "/db/_index/by/json/stars").status == 200)
        #expect(try await test.ask("DELETE", "/db/_index/_design/by/json/stars").status == 404)
        #expect(try await test.ask("GET", "/db/_index")["total_rows"] as? Int == 2)
        let after = try await test.ask("POST", "/db/_explain", request)
        #expect((after["index"] as? [String: Any])?["name"] as? String == "_all_docs")
        let gone = try await test.ask("POST", "/db/_index/_bulk_delete", #"{"docids":["_design/by","none"]}"#)
        #expect((gone["success"] as? [Any])?.count == 1 && (gone["fail"] as? [Any])?.count == 1)
        #expect(try await test.ask("GET", "/db/_design/by").status == 404)
    }

    @Test(arguments: [
        (#"{"index":{"fields":[]}}"#, 400), (#"{"index":{"fields":[{"a":"asc"},{"b":"desc"}]}}"#, 400),
        (#"{"index":{"fields":["a"]},"type":"text"}"#, 501), (#"{"name":"x"}"#, 400),
        (#"{"index":{"fields":["a"],"partial_filter_selector":{"a":{"$no":1}}}}"#, 400),
        (#"{"index":{"fields":[""]}}"#, 400), (#"{"index":{"fields":[{"":"asc"}]}}"#, 400),
        (#"{"index":{"fields":["a"]},"type":null}"#, 400),
        (#"{"index":{"fields":["a"]},"type":["json"]}"#, 400),
        (#"{"index":{"fields":["a"]},"name":""}"#, 400), (#"{"index":{"fields":["a"]},"name":1.5}"#, 400),
        (#"{"index":{"fields":["a"]},"ddoc":""}"#, 400), (#"{"index":{"fields":["a"]},"ddoc":["x"]}"#, 400),
        (#"{"index":{"fields":["a"]},"ddoc":"_design/"}"#, 400),
    ])
    func indexesThatCanNotBe(request: String, status: Int) async throws {
        let test = try await TestRouter.stars()
        let answer = try await test.ask("POST", "/db/_index", request)
        #expect(answer.status == status, "\(answer.text)")
        #expect(try await test.ask("GET", "/db/_index")["total_rows"] as? Int == 1)
    }

    /// Without `sort`, the order is that of the index that CouchDB would take, whichever is read.
    @Test(arguments: [
        (#"{"stars":{"$gt":0}}"#, "d1 d2 d3 d4 d5 d6 d7 d8"), (#"{"rest":{"$gt":4}}"#, "d3 d2 d1"),
        (#"{"kind":"a"}"#, "d2 d4 d6 d8"), (#"{"kind":"b","rest":{"$gte":0}}"#, "d7 d5 d3 d1"),
        (#"{"kind":{"$in":["b","a"]},"rest":{"$lte":5}}"#, "d8 d7 d6 d5 d4 d3"),
        (#"{"$and":[{"rest":{"$gt":3}},{"$not":{"rest":5}}]}"#, "d4 d2 d1"),
        (#"{"$or":[{"kind":"b","rest":{"$gt":1}},{"rest":2}]}"#, "d6 d5 d3 d1"),
        (#"{"$or":[{"kind":"b"},{"rest":2}]}"#, "d1 d3 d5 d6 d7"),
        (#"{"kind":{"$gt":"a"},"rest":{"$exists":true}}"#, "d7 d5 d3 d1"),
        (#"{"rest":{"$exists":false}}"#, ""),
    ])
    func documentsComeInTheOrderOfTheIndex(selector: String, expected: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for number in 1...8 {
            let kind = number % 2 == 0 ? "a" : "b"
            _ = try await test.put(
                "/db/d\(number)", #"{"stars":\#(number),"kind":"\#(kind)","rest":\#(8 - number)}"#)
        }
        for fields in [#"{"rest":"desc"}"#, #""kind","rest""#] {
            try await test.ask("POST", "/db/_index", #"{"index":{"fields":[\#(fields)]}}"#)
        }
        let answer = try await test.ask("POST", "/db/_find", #"{"selector":\#(selector)}"#)
        let docs = try #require(answer["docs"] as? [[String: Any]], "\(answer.text)")
        #expect(docs.compactMap { $0["_id"] as? String }.joined(separator: " ") == expected)
    }

    @Test func indexesThatAreAskedFor() async throws {
        let test = try await TestRouter.stars()
        for (fields, name) in [("stars", "one"), (#"kind","stars"#, "two"), ("t", "three")] {
            try await test.ask(
                "POST", "/db/_index", #"{"index":{"fields":["\#(fields)"]},"ddoc":"by","name":"\#(name)"}"#)
        }
        let partial =
            #"{"index":{"fields":["stars"],"partial_filter_selector":{"kind":"a"}},"ddoc":"some","name":"a"}"#
        try await test.ask("POST", "/db/_index", partial)
        let used = { (hint: String) in
            let request = #"{"selector":{"kind":"b","stars":{"$gt":2}},"use_index":\#(hint)}"#
            let explained = try await test.ask("POST", "/db/_explain", request)
            return (explained["index"] as? [String: Any])?["name"] as? String ?? explained.text
        }
        #expect(try await used(#"["by","one"]"#) == "one")
        #expect(try await used(#"["_design/by","two"]"#) == "two")
        // One that can't answer is passed over.
        #expect(try await ["one", "two"].contains(used(#"["by","three"]"#)))
        #expect(try await ["one", "two"].contains(used("[]")))
        #expect(try await used("7").contains("use_index is"))
        // Of the documents in it only.
        let some = #"{"selector":{"stars":{"$gt":4}},"fields":["_id"],"use_index":"some"}"#
        let found = try await test.ask("POST", "/db/_find", some)
        #expect(found.text.hasPrefix(#"{"docs":[{"_id":"d6"},{"_id":"d8"}]"#), "\(found.text)")
    }

    /// As CouchDB 3.5 answers these requests, but for the sort without `use_index`, which it refuses where one index fits alone.
    @Test(arguments: [
        (#""selector":{"stars":1},"use_index":"by-stars""#, true, ""),
        (#""selector":{"stars":1},"use_index":["by-stars","one"]"#, true, ""),
        (#""selector":{"stars":1},"use_index":"by-stars/one""#, true, ""),
        (#""selector":{"stars":1},"use_index":"_design/by-stars/one""#, true, ""),
        (#""selector":{"stars":1},"use_index":[]"#, true, ""),
        (#""selector":{"stars":1},"use_index":null"#, true, ""),
        (#""selector":{"stars":1}"#, true, ""),
        (#""selector":{"stars":1},"sort":["stars"]"#, true, ""),
        (#""selector":{"_id":"d1"},"sort":["stars"],"use_index":"by-stars""#, true, ""),
        (#""selector":{"stars":1},"use_index":["by-stars","two"]"#, false, "_design/by-stars, two"),
        (#""selector":{"stars":1},"use_index":"other""#, false, "_design/other"),
        (#""selector":{"kind":"b"},"use_index":"_design/by-stars""#, false, "_design/by-stars"),
        (#""selector":{"kind":"b"}"#, false, "You must specify an index with the `use_index` parameter."),
        (#""selector":{"_id":"d1"}"#, false, "You must specify an index with the `use_index` parameter."),
        (#""selector":{"t":1}"#, false, "You must specify an index with the `use_index` parameter."),
        (#""selector":{"t":1},"use_index":"some""#, true, ""),
    ])
    func withoutFallbackAnIndexHasToFit(request: String, isAnswered: Bool, words: String) async throws {
        let test = try await TestRouter.stars()
        let some = #""partial_filter_selector":{"kind":"a"}"#
        for (fields, design) in [(#"["stars"]"#, "by-stars"), (#"["t"],\#(some)"#, "some")] {
            try await test.ask(
                "POST", "/db/_index", #"{"index":{"fields":\#(fields)},"ddoc":"\#(design)","name":"one"}"#)
        }
        for function in ["_find", "_explain"] {
            let strict = try await test.ask(
                "POST", "/db/\(function)", "{\(request),\"allow_fallback\":false}")
            #expect(strict.status == (isAnswered ? 200 : 400), "\(strict.text)")
            if isAnswered { continue }
            #expect(strict["error"] as? String == "invalid_index")
            #expect(strict.text.contains(words), "\(strict.text)")
        }
        // Otherwise it is answered, and says what was not used.
        let answer = try await test.ask("POST", "/db/_find", "{\(request),\"allow_fallback\":true}")
        let warns = (answer["warning"] as? String)?.contains("was not used because it") == true
        #expect(answer.status == 200 && warns == words.hasPrefix("_design"), "\(answer.text)")
        let wrong = try await test.ask("POST", "/db/_find", "{\(request),\"allow_fallback\":1}")
        #expect(wrong.status == 400)
    }

    /// Documents come in the order of the index that CouchDB 3.5 takes: of which most of the first fields are looked for, then the one
    /// of the fewest fields, then the first by name.
    @Test(arguments: [
        (#"{"kind":"a","stars":{"$gt":0}}"#, "kind stars"), (#"{"kind":"a"}"#, "kind _id"),
        (#"{"kind":"a","rest":{"$gt":0},"stars":{"$exists":true}}"#, "kind rest"),
        (#"{"kind":{"$ne":"b"},"stars":{"$gt":0}}"#, "stars"), (#"{"kind":{"$ne":"b"}}"#, "kind _id"),
        (#"{"rest":{"$not":{"$lt":1}},"kind":{"$not":{"$ne":"b"}}}"#, "kind rest"),
        (#"{"$nor":[{"stars":{"$lte":3}}]}"#, "stars"), (#"{"$not":{"stars":{"$exists":false}}}"#, "stars"),
        (#"{"$or":[{"stars":1},{"kind":"a"}]}"#, "_id"), (#"{"stars":{"$in":[1,2,3]}}"#, "stars"),
        (#"{"$not":{"stars":1,"kind":"a"}}"#, "_id"),
        (#"{"$or":[{"stars":{"$gt":3}},{"$and":[{"stars":2},{"kind":"a"}]}]}"#, "stars"),
    ])
    func theOrderIsThatOfTheIndexThatCouchDBTakes(selector: String, expected: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for (number, stars) in [3, 1, 4, 8, 5, 2, 7, 6].enumerated() {
            let kind = number % 2 == 0 ? "a" : "b"
            _ = try await test.put(
                "/db/d\(number)", #"{"stars":\#(stars),"kind":"\#(kind)","rest":\#(8 - number)}"#)
        }
        func find(_ more: String) async throws -> [String] {
            let answer = try await test.ask("POST", "/db/_find", #"{"selector":\#(selector)\#(more)}"#)
            let documents = try #require(answer["docs"] as? [[String: Any]], "\(answer.text)")
            return documents.compactMap { $0["_id"] as? String }
        }
        func list(_ fields: String) -> String {
            fields.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ",")
        }
        let wanted = try await find(#","sort":[\#(list(expected))]"#)
        for fields in ["kind", "kind rest", "kind stars", "stars"] {
            try await test.ask(
                "POST", "/db/_index", #"{"index":{"fields":[\#(list(fields))]},"ddoc":"\#(fields)"}"#)
        }
        #expect(wanted.count > 2)
        #expect(try await find("") == wanted)
    }

    /// What `_explain` tells besides the index, in CouchDB's words.
    @Test func whatIsExplained() async throws {
        let test = try await TestRouter.stars()
        let some = #","partial_filter_selector":{"kind":"a"}"#
        for (name, fields, more) in [
            ("a", #""stars""#, ""), ("b", #""stars""#, ""), ("kind", #""kind""#, ""),
            ("some", #""stars""#, some),
            ("t", #""t""#, ""), ("wide", #""stars","kind""#, ""),
        ] {
            let definition = #"{"index":{"fields":[\#(fields)]\#(more)},"ddoc":"by","name":"\#(name)"}"#
            try await test.ask("POST", "/db/_index", definition)
        }
        func candidates(_ request: String) async throws -> [String] {
            let answer = try await test.ask("POST", "/db/_explain", request)
            let list = try #require(answer["index_candidates"] as? [[String: Any]], "\(answer.text)")
            return try list.map { candidate in
                let name = (candidate["index"] as? [String: Any])?["name"] as? String ?? ""
                let analysis = try #require(candidate["analysis"] as? [String: Any])
                let reasons = try #require(analysis["reasons"] as? [[String: String]])
                #expect(
                    name == "_all_docs"
                        ? analysis["covering"] is NSNull : analysis["covering"] as? Bool == false)
                let isUsable = try #require(analysis["usable"] as? Bool)
                let ranking = try #require(analysis["ranking"] as? Int)
                return "\(ranking) \(name) \(reasons[0]["name"] ?? "")\(isUsable ? "" : " unusable")"
            }
        }
        #expect(
            try await candidates(#"{"selector":{"stars":{"$gt":6},"kind":{"$ne":"x"}}}"#) == [
                "1 b alphabetically_comes_after", "2 wide too_many_fields", "3 kind less_overlap",
                "4 _all_docs unfavored_type", "5 t field_mismatch unusable", "6 some is_partial unusable",
            ])
        #expect(
            try await candidates(#"{"selector":{"stars":{"$gt":6}},"sort":["stars"],"use_index":["by","b"]}"#)
                == [
                    "1 _all_docs excluded_by_user", "1 a excluded_by_user", "2 kind field_mismatch unusable",
                    "2 t field_mismatch unusable", "2 wide field_mismatch unusable",
                    "3 some is_partial unusable",
                ])
        let ordered = #"{"selector":{"stars":{"$gt":6},"kind":{"$gt":""}},"sort":["kind"]}"#
        #expect(try await candidates(ordered).contains { $0.hasSuffix(" b sort_order_mismatch unusable") })
        let explained = try await test.ask(
            "POST", "/db/_explain",
            #"{"selector":{"stars":{"$gt":1},"$or":[{"kind":"a"},{"a\\.b.c":1}]},"sort":[{"stars":"desc"}],"skip":1,"use_index":"by/a"}"#
        )
        let hints =
            #""selector_hints":[{"type":"json","indexable_fields":["stars"],"unindexable_fields":["a\\.b.c","kind"]}]"#
        #expect(explained.text.contains(hints), "\(explained.text)")
        #expect(
            explained.text.contains(
                #""opts":{"use_index":["by","a"],"bookmark":"nil","limit":25,"skip":1,"sort":{"stars":"desc"},"fields":[],"#
                    + #""partition":"","r":1,"conflicts":false,"stale":false,"update":true,"stable":false,"#
                    + #""execution_stats":false,"allow_fallback":true},"limit":25,"skip":1,"fields":[],"#),
            "\(explained.text)")
        #expect(explained["partitioned"] as? Bool == false && explained["covering"] as? Bool == false)
    }

    /// An index that has all fields of a request is read without documents, as CouchDB's indexes cover requests.
    @Test func indexesCoverRequests() async throws {
        let test = try await TestRouter.stars()
        try await test.ask(
            "POST", "/db/_index", #"{"index":{"fields":["stars","kind"]},"ddoc":"by","name":"both"}"#)
        for (fields, isCovering) in [
            (#"["_id","kind"]"#, true), (#"["stars"]"#, true), (#"["stars","_rev"]"#, false),
            (#"["stars","t"]"#, false), ("[]", false),
        ] {
            let request =
                #"{"selector":{"stars":{"$gt":6},"kind":{"$exists":true}},"fields":\#(fields),"execution_stats":true}"#
            let explained = try await test.ask("POST", "/db/_explain", request)
            #expect(explained["covering"] as? Bool == isCovering, "\(explained.text)")
            #expect(explained.text.contains(#""include_docs":\#(!isCovering)"#))
            let found = try await test.ask("POST", "/db/_find", request)
            let statistics = try #require(found["execution_stats"] as? [String: Any])
            #expect(statistics["total_docs_examined"] as? Int == (isCovering ? 0 : 2))
            #expect(statistics["total_keys_examined"] as? Int == 2)
            let documents = try #require(found["docs"] as? [[String: Any]])
            #expect(documents.count == 2)
        }
        let found = try await test.ask(
            "POST", "/db/_find", #"{"selector":{"stars":{"$gt":6}},"fields":["_id","kind","stars"]}"#)
        #expect(
            found.text.contains(#"[{"_id":"d7","kind":"b","stars":7},{"_id":"d8","kind":"a","stars":8}]"#),
            "\(found.text)")
        let wrong = try await test.ask("POST", "/db/_find", #"{"selector":{"_id":{"$beginsWith":true}}}"#)
        #expect(wrong["error"] as? String == "invalid_operator")
        let bookmark = try await test.ask("POST", "/db/_find", #"{"selector":{},"bookmark":"bad-bookmark"}"#)
        #expect(bookmark["reason"] as? String == #"Invalid bookmark value: "bad-bookmark""#)
    }

    /// The keys from which to which an index is read.
    @Test(arguments: [
        (#"{"stars":{"$gt":3}}"#, "", #""start_key":[3],"end_key":["<MAX>"],"direction":"fwd""#),
        (#"{"stars":5}"#, "", #""start_key":[5],"end_key":[5,"<MAX>"],"direction":"fwd""#),
        (
            #"{"stars":{"$gte":3,"$lt":5},"$and":[{"stars":{"$gt":1}},{"stars":{"$lte":5}}]}"#, "",
            #""start_key":[3],"end_key":[5,"<MAX>"],"direction":"fwd""#
        ),
        (
            #"{"stars":{"$lte":"x"}}"#, #","sort":[{"stars":"desc"}]"#,
            #""start_key":["x","<MAX>"],"end_key":[],"direction":"rev""#
        ),
        (
            #"{"kind":"a","stars":{"$not":{"$gt":7}},"t":{"$exists":true}}"#, #","use_index":"wide""#,
            #""start_key":["a"],"end_key":["a",7,"<MAX>"],"direction":"fwd""#
        ),
        (
            #"{"kind":{"$beginsWith":"b"},"stars":{"$exists":true}}"#, #","use_index":"wide""#,
            #""start_key":["b"],"end_key":["b\#u{FFFF}","<MAX>"],"direction":"fwd""#
        ),
        (#"{"stars":{"$gt":5,"$lt":4}}"#, "", #""start_key":null,"end_key":null"#),
        (#"{"stars":{"$gt":4,"$lt":4}}"#, "", #""start_key":null,"end_key":null"#),
        (#"{"t":1}"#, "", #""start_key":null,"end_key":"<MAX>","direction":"fwd""#),
        (#"{"_id":"d3"}"#, "", #""start_key":"d3","end_key":"d3","direction":"fwd""#),
    ])
    func keysAreTold(selector: String, more: String, expected: String) async throws {
        let test = try await TestRouter.stars()
        for (name, fields) in [("stars", #""stars""#), ("wide", #""kind","stars""#)] {
            let definition = #"{"index":{"fields":[\#(fields)]},"ddoc":"\#(name)"}"#
            try await test.ask("POST", "/db/_index", definition)
        }
        let answer = try await test.ask("POST", "/db/_explain", #"{"selector":\#(selector)\#(more)}"#)
        #expect(answer.text.contains(expected), "\(answer.text)")
        #expect(
            answer.text.contains(
                #""mrargs":{"include_docs":true,"view_type":"map","reduce":false,"partition":null,"start_key":"#
            ))
    }

    /// Rows of an index are counted, and documents where all are read.
    @Test(arguments: [
        (#"{"stars":{"$gt":5}}"#, 3, 3), (#"{"stars":{"$gt":5},"kind":"a"}"#, 3, 3), (#"{"kind":"a"}"#, 0, 8),
    ])
    func whatWasExaminedIsTold(selector: String, keys: Int, documents: Int) async throws {
        let test = try await TestRouter.stars()
        try await test.ask("POST", "/db/_index", #"{"index":{"fields":["stars"]}}"#)
        let request = #"{"selector":\#(selector),"execution_stats":true}"#
        let answer = try await test.ask("POST", "/db/_find", request)
        let statistics = try #require(answer["execution_stats"] as? [String: Any])
        #expect(statistics["total_keys_examined"] as? Int == keys, "\(answer.text)")
        // The design document of the index is read, too.
        let read = try #require(statistics["total_docs_examined"] as? Int)
        #expect(read == documents || keys == 0 && read == documents + 1, "\(answer.text)")
    }

    /// Indexes are design documents: only administrators make them.
    @Test func readersMakeNoIndexes() async throws {
        let test = try await TestRouter.stars()
        try await test.ask("PUT", "/db/_security", "{}")
        let reader = UserContext(name: "ann", roles: [])
        let request = #"{"index":{"fields":["stars"]}}"#
        #expect(try await test.ask("POST", "/db/_index", request, as: reader).status == 403)
        #expect(try await test.ask("POST", "/db/_find", #"{"selector":{}}"#, as: reader).status == 200)
    }

    /// To CouchDB, IDs are greater than whatever is no string.
    @Test(arguments: ["null", "false", "0", "[]", "{}"])
    func conditionsOfIDsWithWhatIsNoString(value: String) async throws {
        let test = try await TestRouter.stars()
        for (name, count) in [("$gt", 8), ("$gte", 8), ("$ne", 8), ("$lt", 0), ("$lte", 0), ("$eq", 0)] {
            let found = try await test.ask(
                "POST", "/db/_find", #"{"selector":{"_id":{"\#(name)":\#(value)}}}"#)
            #expect((found["docs"] as? [Any])?.count == count, "\(name) \(value): \(found.text)")
        }
    }

    /// Indexes of the same fields and other names stand in design documents of their own.
    @Test func indexesOfTheSameFields() async throws {
        let test = try await TestRouter.stars()
        var designs: Set<String> = []
        for name in ["one", "two"] {
            let made = try await test.ask(
                "POST", "/db/_index", #"{"index":{"fields":["stars"]},"name":"\#(name)"}"#)
            designs.insert(made["id"] as? String ?? "")
        }
        #expect(designs.count == 2)
        #expect(try await test.ask("GET", "/db/_index")["total_rows"] as? Int == 3)
    }
}

/// What `_find` and selectors know of documents besides their properties: attachments and conflicts.
@Suite struct FindMetadataTests {
    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        let rows = (answer["docs"] ?? answer["results"]) as? [[String: Any]]
        return rows?.compactMap { ($0["_id"] ?? $0["id"]) as? String } ?? [answer.text]
    }

    /// Of the documents a, b and c, a has attachments, and b is in conflict.
    private static func filled(_ test: TestRouter) async throws -> TestRouter {
        try await test.put("/db/a", #"{"n":1,"channels":["!"],"_attachments":{"f.txt":{"data":"aGVsbG8="}}}"#)
        try await test.ask(
            "POST", "/db/_bulk_docs",
            #"""
            {"new_edits":false,"docs":[{"_id":"b","_rev":"1-aa","n":2,"channels":["!"]},
              {"_id":"b","_rev":"1-bb","n":3,"channels":["!"]}]}
            """#)
        try await test.put("/db/c", #"{"n":4,"channels":["!"]}"#)
        return test
    }

    private static func filled() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        return try await filled(test)
    }

    /// What is found, edited and saved again keeps its attachments.
    @Test func attachmentsAreFound() async throws {
        let test = try await Self.filled()
        let stub = #""_attachments":{"f.txt":{"#
        let answer = try await test.ask("POST", "/db/_find", #"{"selector":{"n":1}}"#)
        #expect(answer.text.contains(stub) && answer.text.contains(#""stub":true"#), "\(answer.text)")
        #expect(answer.text.contains(#""digest":"md5-XUFAKrxLKna5cZ2REBfFkg==""#), "\(answer.text)")
        let documents = try #require(answer["docs"] as? [[String: Any]])
        let document = try JSONSerialization.data(withJSONObject: try #require(documents.first))
        try await test.put("/db/a", String(decoding: document, as: UTF8.self))
        #expect(try await test.ask("GET", "/db/a/f.txt").text == "hello")
        let named = try await test.ask(
            "POST", "/db/_find", #"{"selector":{},"fields":["_id","_attachments.f\\.txt.length"]}"#)
        #expect(
            named.text.hasPrefix(
                #"{"docs":[{"_attachments":{"f.txt":{"length":5}},"_id":"a"},{"_id":"b"},{"_id":"c"}]"#))
        let others = try await test.ask("POST", "/db/_find", #"{"selector":{},"fields":["n"]}"#)
        #expect(others.text.hasPrefix(#"{"docs":[{"n":1},{"n":3},{"n":4}]"#))
    }

    @Test(arguments: [
        (#"{"_attachments":{"$exists":true}}"#, ["a"]), (#"{"_attachments":{"$exists":false}}"#, ["b", "c"]),
        (#"{"_attachments.f\\.txt":{"$exists":true}}"#, ["a"]),
        (#"{"_attachments":{"f.txt":{"length":{"$gt":4}}}}"#, []),
        (#"{"_attachments":{"f\\.txt":{"length":{"$gt":4}}}}"#, ["a"]),
        (#"{"_attachments.f\\.txt.length":5}"#, ["a"]), (#"{"_attachments.f\\.txt.length":6}"#, []),
        (#"{"_conflicts":{"$exists":true}}"#, ["b"]), (#"{"_conflicts":{"$exists":false}}"#, ["a", "c"]),
        (#"{"_conflicts":{"$size":1}}"#, ["b"]), (#"{"_conflicts.0":"1-aa"}"#, ["b"]),
        (#"{"_conflicts":{"$in":["1-aa"]},"n":3}"#, ["b"]),
    ])
    func selectorsKnowThem(selector: String, expected: [String]) async throws {
        let test = try await Self.filled()
        for field in ["", "_attachments", "_conflicts"] {
            // An index of what is no property changes nothing.
            if !field.isEmpty {
                try await test.ask("POST", "/db/_index", #"{"index":{"fields":["\#(field)"]}}"#)
            }
            let found = try await test.ask("POST", "/db/_find", #"{"selector":\#(selector)}"#)
            #expect(Self.ids(found) == expected, "\(field): \(found.text)")
        }
        let changes = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":\#(selector)}"#)
        #expect(Self.ids(changes).filter { !$0.hasPrefix("_") } == expected, "\(changes.text)")
    }

    @Test func conflictsAreToldWhereAsked() async throws {
        let test = try await Self.filled()
        let told = try await test.ask(
            "POST", "/db/_find", #"{"selector":{},"conflicts":true,"fields":["_id","_rev","_conflicts"]}"#)
        #expect(told.text.contains(#"{"_conflicts":["1-aa"],"_id":"b","_rev":"1-bb"}"#), "\(told.text)")
        #expect(told.text.components(separatedBy: "_conflicts").count == 2)
        let usual = try await test.ask("POST", "/db/_find", #"{"selector":{}}"#)
        #expect(!usual.text.contains("_conflicts"))
    }

    /// Who sees no more than their channels learns nothing of conflicts, which may be with what they don't see.
    @Test func conflictsAreNotForEverybody() async throws {
        let test = try await Self.filled(try await channelRouter())
        for request in [
            #"{"selector":{},"conflicts":true}"#, #"{"selector":{"$not":{"_conflicts":{"$exists":true}}}}"#,
            #"{"selector":{"_conflicts.0":"1-aa"}}"#, #"{"selector":{},"sort":["_conflicts"]}"#,
        ] {
            let answer = try await test.ask("POST", "/db/_find", request, as: ann)
            #expect(answer.status == 400 && answer.text.contains("Conflicts are"), "\(answer.text)")
        }
        let changes = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":{"_conflicts":{"$exists":true}}}"#, as: ann
        )
        #expect(changes.status == 403, "\(changes.text)")
        let found = try await test.ask("POST", "/db/_find", #"{"selector":{"_attachments":{}}}"#, as: ann)
        #expect(found.status == 200)
    }
}
