import RoostREST
import Testing

/// Mango indexes of the documents that a selector matches.
@Suite struct PartialIndexTests {
    /// 40 documents of all kinds, and an index of some by `n`.
    private static func documents(_ filter: String, fields: String = #""n""#) async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        var documents: [String] = []
        for number in 0..<40 {
            var members = [#""_id":"\#(100 + number)""#, #""n":\#((number * 7) % 40)"#]
            if number % 3 > 0 { members.append(#""kind":"\#(["owl", "Öl", "zebra"][number % 3])""#) }
            if number % 4 > 0 { members.append(#""at":{"place":[\#(number % 5),"x"]}"#) }
            if number % 5 == 0 { members.append(#""items":[{"price":\#(number)},{"price":1}]"#) }
            documents.append("{\(members.joined(separator: ","))}")
        }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        let definition =
            #"{"index":{"fields":[\#(fields)],"partial_filter_selector":\#(filter)},"ddoc":"some","name":"n"}"#
        let made = try await test.ask("POST", "/db/_index", definition)
        #expect(made.status == 200, "\(made.text)")
        return test
    }

    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        (answer["docs"] as? [[String: Any]])?.compactMap { $0["_id"] as? String } ?? [answer.text]
    }

    private static func index(_ answer: TestRouter.Answer) -> String {
        (answer["index"] as? [String: Any])?["name"] as? String ?? answer.text
    }

    /// Whatever the selector is, and whatever else is asked, the documents are those that match both, and only these are read.
    @Test(arguments: [
        #"{"kind":"zebra"}"#, #"{"kind":{"$gt":"owl"}}"#, #"{"kind":{"$in":["owl","Öl"]}}"#,
        #"{"kind":{"$exists":false}}"#, #"{"kind":{"$regex":"^z"}}"#, #"{"kind":{"$beginsWith":"z"}}"#,
        #"{"$or":[{"kind":"zebra"},{"items":{"$size":2}}]}"#, #"{"$not":{"kind":{"$type":"string"}}}"#,
        #"{"$nor":[{"kind":"zebra"},{"n":{"$mod":[2,0]}}]}"#, #"{"at.place":{"$all":["x",2]}}"#,
        #"{"items":{"$elemMatch":{"price":{"$gt":9}}}}"#, #"{"items":{"$allMatch":{"price":{"$lt":30}}}}"#,
        #"{"at":{"$keyMapMatch":{"$eq":"place"}}}"#, #"{"items.0.price":{"$lt":20}}"#,
        #"{"n":{"$lt":30},"at":{"place":[1,"x"]}}"#, #"{"kind":null}"#,
    ])
    func whatIsAskedForIsRead(filter: String) async throws {
        let test = try await Self.documents(filter)
        for selector in [#"{"n":{"$gte":0}}"#, #"{"n":{"$lt":25},"kind":{"$ne":"owl"}}"#, filter] {
            let both = #"{"selector":{"$and":[{"n":{"$exists":true}},\#(selector),\#(filter)]},"sort":["n"]"#
            let expected = Self.ids(try await test.ask("POST", "/db/_find", both + #","limit":99}"#))
            let hinted =
                #"{"selector":{"$and":[{"n":{"$exists":true}},\#(selector)]},"use_index":"some","limit":99"#
            let found = try await test.ask("POST", "/db/_find", hinted + #","execution_stats":true}"#)
            #expect(Self.ids(found) == expected, "\(selector)")
            #expect(found["warning"] == nil, "\(found.text)")
            let explained = try await test.ask("POST", "/db/_explain", hinted + "}")
            #expect(Self.index(explained) == "n", "\(explained.text)")
            let whole = try await test.ask(
                "POST", "/db/_find", #"{"selector":\#(filter),"limit":99}"#)
            let statistics = try #require(found["execution_stats"] as? [String: Any])
            let read = try #require(statistics["total_keys_examined"] as? Int)
            // The index's own design document may match, too.
            #expect(read >= expected.count && read <= Self.ids(whole).count + 1, "\(found.text)")
        }
    }

    /// As in CouchDB, also where the selector says the same.
    @Test func whatIsNotAskedForIsNotRead() async throws {
        let test = try await Self.documents(#"{"kind":"zebra"}"#)
        let selector = #""selector":{"kind":"zebra","n":{"$gte":0}}"#
        for more in ["", #","sort":["n"]"#, #","use_index":"other""#] {
            let explained = try await test.ask("POST", "/db/_explain", "{\(selector)\(more)}")
            #expect(Self.index(explained) == "_all_docs", "\(explained.text)")
            #expect(explained.text.contains(#""reasons":[{"name":"is_partial"}]"#))
        }
        try await test.ask("POST", "/db/_index", #"{"index":{"fields":["n"]},"ddoc":"all","name":"all"}"#)
        let explained = try await test.ask("POST", "/db/_explain", "{\(selector)}")
        #expect(Self.index(explained) == "all", "\(explained.text)")
        // A query in SQL does not read it either.
        let query = #"{"query":"SELECT _id FROM _ WHERE n = 7","explain":true}"#
        #expect(try await !test.ask("POST", "/db/_query", query).text.contains("_design/some"))
    }

    /// Documents come into it and go, and another selector makes another index.
    @Test func itFollowsDocumentsAndItsDefinition() async throws {
        let test = try await Self.documents(#"{"kind":"zebra"}"#)
        func found() async throws -> [String] {
            let request = #"{"selector":{"n":{"$lt":9}},"use_index":"some","fields":["_id"]}"#
            return Self.ids(try await test.ask("POST", "/db/_find", request))
        }
        #expect(try await found() == ["123", "129", "135"])
        let revision = try #require(try await test.ask("GET", "/db/129")["_rev"] as? String)
        try await test.put("/db/129", #"{"_rev":"\#(revision)","kind":"owl","n":2}"#)
        try await test.put("/db/new", #"{"kind":"zebra","n":-1}"#)
        #expect(try await found() == ["new", "123", "135"])
        try await test.ask("DELETE", "/db/_index/some/json/n")
        try await test.ask(
            "POST", "/db/_index",
            #"{"index":{"fields":["n"],"partial_filter_selector":{"kind":"owl"}},"ddoc":"some","name":"n"}"#)
        #expect(try await found() == ["129"])
    }

    /// The fields of `sort` count as what documents have; those that are not in the index for want of one are not found.
    @Test func itServesAnOrder() async throws {
        let test = try await Self.documents(#"{"n":{"$lt":20}}"#, fields: #""kind","n""#)
        for (sort, isUsed) in [(#"["kind"]"#, true), (#"["kind","n"]"#, true), (#"["n"]"#, false)] {
            let request = #"{"selector":{"n":{"$gte":0}},"sort":\#(sort),"use_index":"some","limit":99}"#
            let explained = try await test.ask("POST", "/db/_explain", request)
            #expect((Self.index(explained) == "n") == isUsed, "\(explained.text)")
            let found = try await test.ask("POST", "/db/_find", request)
            let documents = try #require(found["docs"] as? [[String: Any]])
            #expect((found["warning"] == nil) == isUsed, "\(found.text)")
            guard isUsed else { continue }
            #expect(documents.count == 13 && documents.allSatisfy { $0["kind"] != nil }, "\(found.text)")
            #expect(documents.allSatisfy { ($0["n"] as? Int ?? 99) < 20 })
        }
    }

    /// Old design documents call the selector `selector`.
    @Test func oldDefinitionsAreKnown() async throws {
        let test = try await TestRouter.stars()
        let view =
            #"{"map":{"fields":{"stars":"asc"},"selector":{"kind":"a"}},"options":{"def":{"fields":["stars"]}}}"#
        try await test.put("/db/_design/old", #"{"language":"query","views":{"old":\#(view)}}"#)
        let request = #"{"selector":{"stars":{"$gt":3}},"use_index":"old"}"#
        #expect(Self.index(try await test.ask("POST", "/db/_explain", request)) == "old")
        #expect(Self.ids(try await test.ask("POST", "/db/_find", request)) == ["d4", "d6", "d8"])
        let rows = try await test.ask("GET", "/db/_design/old/_view/old?reduce=false")
        #expect(rows["total_rows"] as? Int == 4, "\(rows.text)")
    }

    /// What only documents have is in no index: they are looked at one by one.
    @Test func selectorsOfWhatOnlyDocumentsHave() async throws {
        let test = try await TestRouter.stars()
        try await test.put("/db/d9", #"{"stars":9,"_attachments":{"a":{"data":"YQ=="}}}"#)
        let filter = #""partial_filter_selector":{"_attachments.a.length":1}"#
        try await test.ask("POST", "/db/_index", #"{"index":{"fields":["stars"],\#(filter)},"ddoc":"some"}"#)
        let request = #"{"selector":{"stars":{"$gt":0}},"use_index":"some"}"#
        #expect(Self.ids(try await test.ask("POST", "/db/_find", request)) == ["d9"])
    }
}
