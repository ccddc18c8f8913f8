import RoostREST
import Testing

/// The forms that Mango's requests, indexes and faults have on the wire.
@Suite struct MangoFormTests {
    /// The normal form of selectors, by CouchDB's rules; it is a selector with the same normal form.
    @Test(arguments: [
        ("{}", "{}"), (#"{"a":1}"#, #"{"a":{"$eq":1}}"#),
        (#"{"a":1,"b":{"c":{"$gt":2}}}"#, #"{"$and":[{"a":{"$eq":1}},{"b.c":{"$gt":2}}]}"#),
        (#"{"a":{"$gt":1,"$lt":5}}"#, #"{"$and":[{"a":{"$gt":1}},{"a":{"$lt":5}}]}"#),
        (#"{"a":{}}"#, #"{"a":{"$eq":{}}}"#),
        (#"{"a":{"$and":[{"b":1}]}}"#, #"{"$and":[{"a.b":{"$eq":1}}]}"#),
        (#"{"$not":{"a":{"$gt":1}}}"#, #"{"a":{"$lte":1}}"#),
        (
            #"{"$nor":[{"a":1},{"a":{"$exists":true}}]}"#,
            #"{"$and":[{"a":{"$ne":1}},{"a":{"$exists":false}}]}"#
        ),
        (#"{"$not":{"$and":[{"a":1},{"b":{"$in":[2]}}]}}"#, #"{"$or":[{"a":{"$ne":1}},{"b":{"$nin":[2]}}]}"#),
        (#"{"a":{"$not":{"$size":1}}}"#, #"{"a":{"$not":{"$size":1}}}"#), (#"{"$nor":[]}"#, #"{"$and":[]}"#),
        (
            #"{"a":{"$elemMatch":{"b":1,"$not":{"c":2}}}}"#,
            #"{"a":{"$elemMatch":{"$and":[{"$not":{"c":{"$eq":2}}},{"b":{"$eq":1}}]}}}"#
        ),
        (
            #"{"a":{"$not":{"$keyMapMatch":{"$regex":"x"}}}}"#,
            #"{"a":{"$not":{"$keyMapMatch":{"$regex":"x"}}}}"#
        ),
        (#"{"a\\.b":1,"\\$c":2}"#, #"{"$and":[{"\\$c":{"$eq":2}},{"a\\.b":{"$eq":1}}]}"#),
    ])
    func theNormalFormIsTold(selector: String, expected: String) async throws {
        let test = try await TestRouter.stars()
        for selector in [selector, expected] {
            let answer = try await test.ask("POST", "/db/_explain", #"{"selector":\#(selector)}"#)
            #expect(answer.text.contains(#""selector":\#(expected),"#), "\(answer.text)")
        }
    }

    /// The words that clients compare.
    @Test(arguments: [
        (#""selector":{"a":{"$in":1}}"#, "bad_arg"), (#""selector":{"a":{"$nin":{}}}"#, "bad_arg"),
        (#""selector":{"a":{"$exists":1}}"#, "bad_arg"), (#""selector":{"a":{"$mod":[1]}}"#, "bad_arg"),
        (#""selector":{"a":{"$size":-1}}"#, "bad_arg"), (#""selector":{"a":{"$all":1}}"#, "bad_arg"),
        (#""selector":{"a":{"$regex":"("}}"#, "bad_arg"), (#""selector":{"a":{"$regex":1}}"#, "bad_arg"),
        (#""selector":{"a":{"$elemMatch":[]}}"#, "bad_arg"), (#""selector":{"$or":{}}"#, "bad_arg"),
        (#""selector":{"a":{"$not":1}}"#, "bad_arg"), (#""selector":{"a":{"$type":1}}"#, "bad_arg"),
        (#""selector":{"a":{"$xx":1}}"#, "invalid_operator"),
        (#""selector":{"a":{"$where":"x"}}"#, "not_supported"),
        (#""selector":{"$gt":1}"#, "invalid_selector"), (#""selector":{"$not":{}}"#, "invalid_selector"),
        (#""selector":1"#, "invalid_selector_json"), (#""limit":1"#, "missing_required_key"),
        (#""selector":{},"limit":-1"#, "invalid_non_neg_integer"),
        (#""selector":{},"skip":"x""#, "invalid_non_neg_integer"),
        (#""selector":{},"r":0"#, "invalid_pos_integer"),
        (#""selector":{},"conflicts":1"#, "invalid_boolean"), (#""selector":{},"none":1"#, "invalid_key"),
        (#""selector":{},"fields":"a""#, "invalid_fields"), (#""selector":{},"fields":[1]"#, "invalid_field"),
        (#""selector":{},"sort":"a""#, "invalid_sort_json"),
        (#""selector":{},"sort":[1]"#, "invalid_sort_field"),
        (#""selector":{},"sort":[{"a":"asc"},{"b":"desc"}]"#, "unsupported_mixed_sort"),
        (#""selector":{},"use_index":7"#, "invalid_index_name"),
        (#""selector":{},"bookmark":1"#, "invalid_bookmark"),
    ])
    func faultsHaveTheWordsOfCouchDB(members: String, word: String) async throws {
        let test = try await TestRouter.stars()
        for route in ["_find", "_explain"] {
            let answer = try await test.ask("POST", "/db/\(route)", "{\(members)}")
            #expect(answer.status == 400 && answer["error"] as? String == word, "\(answer.text)")
        }
    }

    @Test func indexesAreListedInPages() async throws {
        let test = try await TestRouter.stars()
        for name in ["a", "b", "c"] {
            try await test.ask(
                "POST", "/db/_index",
                #"{"index":{"fields":["\#(name)"]},"ddoc":"\#(name)","name":"\#(name)"}"#)
        }
        func names(_ parameters: String) async throws -> [String] {
            let answer = try await test.ask("GET", "/db/_index?\(parameters)")
            #expect(answer["total_rows"] as? Int == 4, "\(answer.text)")
            return (answer["indexes"] as? [[String: Any]])?.compactMap { $0["name"] as? String } ?? []
        }
        #expect(try await names("limit=2") == ["_all_docs", "a"])
        #expect(try await names("limit=2&skip=1") == ["a", "b"])
        #expect(try await names("skip=3") == ["c"])
        #expect(try await names("skip=9") == [])
        for (wrong, status) in [("limit=0", 500), ("limit=-1", 500), ("skip=-1", 500), ("limit=x", 400)] {
            #expect(try await test.ask("GET", "/db/_index?\(wrong)").status == status, "\(wrong)")
        }
        // What is no index is missing, whatever is asked of it.
        for (path, status) in [
            ("a", 404), ("a/b", 404), ("a/b/c/d", 404), ("a/json/a", 405), ("_bulk_delete", 405),
        ] {
            #expect(try await test.ask("GET", "/db/_index/\(path)").status == status, "\(path)")
        }
        for wrong in [
            #"{"index":{"fields":["a"],"selector":{}}}"#, #"{"index":{"fields":["a"]},"fields":["b"]}"#,
        ] {
            let answer = try await test.ask("POST", "/db/_index", wrong)
            #expect(answer.status == 400 && answer["error"] as? String == "invalid_key", "\(answer.text)")
        }
    }

    /// The selector in its normal form, and besides what was given.
    @Test func indexesAreStoredAsCouchDBStoresThem() async throws {
        let test = try await TestRouter.stars()
        let definition =
            #"{"fields":["stars",{"kind":"asc"}],"partial_filter_selector":{"kind":"a","$not":{"stars":3}}}"#
        try await test.ask("POST", "/db/_index", #"{"index":\#(definition),"ddoc":"by","name":"n"}"#)
        let design = try await test.ask("GET", "/db/_design/by").text
        let filter = #"{"$and":[{"stars":{"$ne":3}},{"kind":{"$eq":"a"}}]}"#
        #expect(design.contains(#""partial_filter_selector":\#(filter)"#), "\(design)")
        #expect(
            design.contains(
                #""options":{"def":{"fields":["stars",{"kind":"asc"}],"partial_filter_selector":{"#),
            "\(design)")
        let list = try await test.ask("GET", "/db/_index").text
        #expect(
            list.contains(
                #""def":{"fields":[{"stars":"asc"},{"kind":"asc"}],"partial_filter_selector":\#(filter)}"#),
            "\(list)")
        let again = try await test.ask(
            "POST", "/db/_index", #"{"index":\#(definition),"ddoc":"by","name":"n"}"#)
        #expect(again["result"] as? String == "exists", "\(again.text)")
    }
}
