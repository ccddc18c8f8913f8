import Roost
import RoostQuery
import Testing

/// Mango's selectors, by CouchDB's documentation of `_find` and its tests.
@Suite struct MangoTests {
    let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture([
            #"{"_id":"a","n":1,"s":"alpha","tags":["x","y"],"o":{"k":1,"in":{"deep":true}}}"#,
            #"{"_id":"b","n":2.5,"s":"Beta","tags":["y"],"null":null}"#,
            #"{"_id":"c","n":"3","s":"gamma","tags":[],"list":[1,5,9]}"#,
            #"{"_id":"d","n":null,"tags":"x","a.b":1,"$d":2}"#,
            #"{"_id":"e","n":[1],"list":[{"q":1},{"q":7}],"m":-7}"#,
        ])
    }

    @Test(arguments: [
        (#"{}"#, "abcde"), (#"{"n":1}"#, "a"), (#"{"n":1.0}"#, "a"), (#"{"n":{"$eq":null}}"#, "d"),
        (#"{"nope":{"$eq":null}}"#, ""), (#"{"n":{"$gt":1}}"#, "bce"),
        (#"{"n":{"$gt":null}}"#, "abce"), (#"{"n":{"$lt":"3"}}"#, "abd"),
        (#"{"n":{"$gte":1,"$lt":3}}"#, "ab"), (#"{"n":{"$ne":1}}"#, "bcde"),
        (#"{"s":{"$ne":"alpha"}}"#, "bc"),
        (#"{"s":{"$lt":"b"}}"#, "a"), (#"{"s":{"$gt":"b"}}"#, "bc"), (#"{"null":{"$exists":true}}"#, "b"),
        (#"{"null":{"$exists":false}}"#, "acde"), (#"{"n":{"$type":"number"}}"#, "ab"),
        (#"{"n":{"$type":"array"}}"#, "e"), (#"{"n":{"$in":[1,"3"]}}"#, "ace"),
        (#"{"tags":{"$in":["x"]}}"#, "ad"), (#"{"n":{"$in":[]}}"#, ""), (#"{"n":{"$nin":[]}}"#, "abcde"),
        (#"{"tags":{"$nin":["x"]}}"#, "bc"),
        // An empty list of conditions holds, and finds nothing where there is nothing else.
        (#"{"$and":[]}"#, ""), (#"{"$or":[]}"#, ""), (#"{"$nor":[]}"#, ""), (#"{"$not":{"$or":[]}}"#, ""),
        (#"{"n":{"$or":[]}}"#, ""), (#"{"$or":[],"n":1}"#, "a"), (#"{"$and":[{"$or":[]}]}"#, "abcde"),
        (#"{"n":{"$in":[]},"$or":[]}"#, ""),
        // No document is the empty object.
        (#"{"$and":[{}]}"#, ""), (#"{"$or":[{}]}"#, ""), (#"{"$nor":[{}]}"#, "abcde"),
        (#"{"$or":[{},{"n":1}]}"#, "a"), (#"{"list":{"$elemMatch":{}}}"#, ""),
        (#"{"$or":[{"n":1},{"s":"gamma"}]}"#, "ac"), (#"{"$and":[{"n":1},{"s":"gamma"}]}"#, ""),
        (#"{"$nor":[{"n":1},{"s":"gamma"}]}"#, "b"), (#"{"$not":{"n":{"$gt":1}}}"#, "ad"),
        (#"{"s":{"$not":{"$eq":"alpha"}}}"#, "bc"), (#"{"tags":{"$all":["x","y"]}}"#, "a"),
        (#"{"tags":{"$all":[]}}"#, ""),
        (#"{"tags":{"$all":[["x","y"]]}}"#, "a"), (#"{"tags":{"$size":1}}"#, "b"),
        (#"{"tags":{"$size":0}}"#, "c"), (#"{"m":{"$mod":[3,-1]}}"#, "e"), (#"{"n":{"$mod":[2,1]}}"#, "a"),
        (#"{"s":{"$regex":"^[a-g]"}}"#, "ac"), (#"{"s":{"$regex":"(?i)^b"}}"#, "b"),
        (#"{"n":{"$regex":"1"}}"#, ""), (#"{"s":{"$beginsWith":"ga"}}"#, "c"),
        (#"{"n":{"$beginsWith":"3"}}"#, "c"),
        (#"{"list":{"$elemMatch":{"$gt":5,"$lt":10}}}"#, "c"), (#"{"list":{"$elemMatch":{"q":7}}}"#, "e"),
        (#"{"list":{"$allMatch":{"$gt":0,"$lt":10}}}"#, "c"), (#"{"tags":{"$allMatch":{"$eq":"y"}}}"#, "b"),
        (#"{"o":{"$keyMapMatch":{"$eq":"k"}}}"#, "a"), (#"{"o.in.deep":true}"#, "a"),
        (#"{"o":{"in":{"deep":true}}}"#, "a"), (#"{"o.k":{"$exists":true}}"#, "a"), (#"{"a\\.b":1}"#, "d"),
        (#"{"\\$d":2}"#, "d"),
        (#"{"_id":{"$gt":"b","$lte":"d"}}"#, "cd"), (#"{"_id":{"$in":["a","e"]}}"#, "ae"),
        (#"{"list":[1,5,9]}"#, "c"), (#"{"n":{"$not":{"$in":[1]}}}"#, "bcd"),
        (#"{"tags":{"$not":{"$size":1}}}"#, "acd"), (#"{"nope":{"$not":{"$size":1}}}"#, ""),
        // A number leads into an array.
        (#"{"tags.0":"x"}"#, "a"), (#"{"tags.1":{"$exists":true}}"#, "a"), (#"{"list.1.q":{"$gt":5}}"#, "e"),
        (#"{"list":{"0":1}}"#, "c"), (#"{"list.1":{"q":7}}"#, "e"), (#"{"tags.00":"x"}"#, "a"),
        (#"{"list.1.0.q":7}"#, ""),
        // Nothing is said of a field within what is no object.
        (#"{"o.k":{"$exists":false}}"#, "bcde"), (#"{"s.k":{"$exists":false}}"#, "de"),
        (#"{"tags.7":{"$exists":false}}"#, "e"), (#"{"n":{"k":{"$exists":false}}}"#, ""),
        (#"{"o.in.deep.x":{"$exists":false}}"#, "bcde"), (#"{"s.k":{"$not":{"$exists":true}}}"#, "de"),
        (#"{"list":{"$elemMatch":{"k":{"$exists":false}}}}"#, "e"),
        (#"{"list":{"$allMatch":{"k":{"$exists":false}}}}"#, "e"),
        (#"{"list":{"$elemMatch":{"$exists":true}}}"#, "ce"),
        (#"{"list":{"$elemMatch":{"$exists":false}}}"#, ""),
        // In elements a negation is the opposite, also where there is no such field.
        (#"{"list":{"$elemMatch":{"$not":{"q":1}}}}"#, "ce"),
        (#"{"list":{"$allMatch":{"$not":{"q":1}}}}"#, "c"),
        (#"{"list":{"$elemMatch":{"$nor":[{"q":1},{"q":7}]}}}"#, "c"),
        (#"{"list":{"$not":{"$elemMatch":{"q":1}}}}"#, "c"),
        // What is no object has no keys.
        (#"{"n":{"$not":{"$keyMapMatch":{"$eq":"y"}}}}"#, "abcde"),
        (#"{"o":{"$not":{"$keyMapMatch":{"$eq":"k"}}}}"#, ""),
        // Only deleted documents have this field, and none is found.
        (#"{"_deleted":{"$exists":false}}"#, "abcde"), (#"{"_deleted":{"$exists":true}}"#, ""),
        (#"{"_deleted":true}"#, ""), (#"{"_deleted":false}"#, ""), (#"{"_deleted":{"$ne":true}}"#, ""),
        (#"{"n":1,"$nor":[{"_deleted":true}]}"#, ""), (#"{"n":1,"$or":[{"_deleted":true},{"n":1}]}"#, "a"),
        // Of an array, elements count alone.
        (#"{"tags":{"$in":[["x","y"]]}}"#, ""), (#"{"tags":{"$nin":[["x","y"]]}}"#, "abcd"),
    ])
    func selectorsMatch(_ selector: String, _ expected: String) throws {
        let notes = try fixture.database.defaultCollection
        try notes.delete(try notes.save(json: "{}", id: "gone"))
        let found = try fixture.database.defaultCollection.find(json: #"{"selector":\#(selector)}"#)
        #expect(found.documents.map { $0["_id"].string ?? "" }.joined() == expected)
    }

    /// A path may have as many numbers as it has steps.
    @Test func longPathsOfNumbersAreAnswered() throws {
        let depth = 500
        let deep = String(repeating: "[", count: 50) + "7" + String(repeating: "]", count: 50)
        let fixture = try QueryFixture([#"{"_id":"x","deep":\#(deep)}"#])
        func found(_ steps: Int, _ condition: String) throws -> Int {
            let path = "deep" + String(repeating: ".0", count: steps)
            return try fixture.database.defaultCollection.find(
                json: #"{"selector":{"\#(path)":\#(condition)}}"#
            ).documents.count
        }
        #expect(try found(50, "7") == 1)
        #expect(try found(depth, "7") == 0)
        #expect(try found(49, #"{"$exists":false}"#) == 0)
        #expect(try found(depth, #"{"$exists":false}"#) == 0)
    }

    /// What a selector says of IDs is looked up, rather than all documents read.
    @Test(arguments: [
        (#"{"_id":"b"}"#, "b", 1), (#"{"_id":{"$in":["e","a",7,"none"]}}"#, "ae", 3),
        (#"{"_id":{"$gt":"b","$lte":"d"},"n":{"$gt":null}}"#, "c", 2),
        (#"{"_id":{"$beginsWith":"c"}}"#, "c", 1),
        (#"{"_id":{"$gte":"d"}}"#, "de", 2), (#"{"_id":{"$gt":null}}"#, "abcde", 5),
        (#"{"_id":{"$gt":3,"$lt":"b"}}"#, "a", 1), (#"{"_id":{"$not":{"$eq":"b"}}}"#, "acde", 5),
        (#"{"_id":{"$nin":["b"]}}"#, "acde", 5), (#"{"$or":[{"_id":"a"},{"n":"3"}]}"#, "ac", 5),
    ])
    func conditionsOnIDsAreLookedUp(_ selector: String, _ expected: String, _ examined: Int) throws {
        // An index that would be used otherwise.
        try fixture.database.defaultCollection.createIndex("n", on: "n")
        let found = try fixture.database.defaultCollection.find(json: #"{"selector":\#(selector)}"#)
        #expect(found.documents.map { $0["_id"].string ?? "" }.joined() == expected)
        #expect(found.documentsExamined == examined)
    }

    @Test func requestsAreAnswered() throws {
        let notes = try fixture.database.defaultCollection
        let found = try notes.find(
            json:
                #"{"selector":{"s":{"$exists":true}},"fields":["_id","o.k","s"],"sort":[{"s":"desc"}],"limit":2,"skip":1}"#
        )
        #expect(
            found.documents.map(\.description) == [
                #"{"_id":"b","s":"Beta"}"#, #"{"_id":"a","o":{"k":1},"s":"alpha"}"#,
            ])
        #expect(found.documentsExamined == 5)
        let whole = try notes.find(["selector": ["_id": "d"]]).documents
        #expect(whole.first?["_rev"].string == (try notes.document("d")).map { "\($0.revision)" })
        try notes.database.write { batch in
            for number in 0..<40 { try batch.save(json: "{}", id: "z\(number)", in: notes) }
        }
        #expect(try notes.find(["selector": [:]]).documents.count == 25)
    }

    /// Fields are those of documents, whatever the columns of a query are called.
    @Test func fieldsMayBeCalledAnything() throws {
        let fixture = try QueryFixture([
            #"{"_id":"a","doc":2,"0":1}"#, #"{"_id":"b","doc":1,"0":2,"d":{"x":1,"y":2}}"#,
        ])
        let notes = try fixture.database.defaultCollection
        func found(_ request: String) throws -> [String] {
            try notes.find(json: request).documents.map(\.description)
        }
        #expect(try found(#"{"selector":{"doc":1},"fields":["_id"]}"#) == [#"{"_id":"b"}"#])
        #expect(
            try found(#"{"selector":{},"sort":["doc"],"fields":["doc"]}"#) == [#"{"doc":1}"#, #"{"doc":2}"#])
        #expect(
            try found(#"{"selector":{},"sort":["0"],"fields":["doc","0"]}"#) == [
                #"{"0":1,"doc":2}"#, #"{"0":2,"doc":1}"#,
            ])
        #expect(
            try found(
                #"{"selector":{"d":{"$exists":true}},"fields":["d.y","_id","d.x","none","_sequence","_rev.x"]}"#
            )
                == [#"{"_id":"b","d":{"x":1,"y":2}}"#])
    }

    /// As with CouchDB's indexes, whichever index there is.
    @Test func sortingFindsWhatHasAllFieldsOfTheOrder() throws {
        let notes = try fixture.database.defaultCollection
        func found(_ sort: String) throws -> String {
            let request = #"{"selector":{"_id":{"$gt":null}},"sort":\#(sort)}"#
            return try notes.find(json: request).documents.map { $0["_id"].string ?? "" }.joined()
        }
        for index in [nil, "s", "m, n"] {
            if let index { try notes.createIndex(index, on: index) }
            #expect(try found(#"["s"]"#) == "abc")
            #expect(try found(#"[{"n":"desc"},{"list":"desc"}]"#) == "ec")
            #expect(try found(#"["m"]"#) == "e")
            #expect(try found(#"["null"]"#) == "b")
            #expect(try found(#"[{"_id":"desc"}]"#) == "edcba")
            #expect(try found(#"["_deleted"]"#) == "")
        }
    }

    @Test(arguments: [
        (#"{"selector":{"n":{"$gtt":1}}}"#, "There is no operator $gtt; did you mean $gt?"),
        (#"{"selector":{"a..b":1}}"#, "The field name \"a..b\" has an empty part"),
        (#"{"fields":["a"]}"#, "The request has no selector"),
        (
            #"{"selector":{"n":{"$mod":[0,1]}}}"#,
            "$mod takes [divisor, remainder], both whole numbers and the divisor not 0"
        ), (#"{"selector":{"$gt":1}}"#, "$gt must be said of a field"),
        (#"{"selector":{"n":{"$in":1}}}"#, "$in takes an array"),
        (#"{"selector":{"n":{"$beginsWith":1}}}"#, "$beginsWith takes a string"),
        (
            #"{"selector":{},"sort":[{"a":"asc"},{"b":"desc"}]}"#,
            "All fields of sort go in the same direction"
        ), (#"{"selector":{},"limt":3}"#, "A request has no \"limt\"; did you mean limit?"),
        (
            #"{"selector":{"s":{"$regex":"(" }}}"#,
            "In the regular expression, a parenthesis is not closed (character 2)"
        ),
    ])
    func errorsSayWhatIsWrong(_ json: String, _ message: String) throws {
        #expect(
            QueryFixture.message { _ = try fixture.database.defaultCollection.find(json: json) } == message)
    }
}

// MARK: - Mango example tests

/// What CouchDB's documentation of `_find` shows, by the headings there, on films of our own.
@Suite struct MangoExampleTests {
    let films: DocumentCollection
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture([
            #"{"_id":"dogville","title":"Dogville","director":"Lars von Trier","year":2003,"genre":["Drama"],"imdb":{"rating":8}}"#,
            #"{"_id":"melancholia","title":"Melancholia","director":"Lars von Trier","year":2011,"genre":["Drama","Sci-Fi"],"imdb":{"rating":7.1}}"#,
            #"{"_id":"short","title":"One week","director":"Buster Keaton","year":1920,"genre":["Comedy","Short"],"imdb":{"rating":8.1}}"#,
            #"{"_id":"stars","title":"Star Wars","director":"George Lucas","year":1977,"genre":["Sci-Fi","Adventure"],"imdb":{"rating":8.6}}"#,
            #"{"_id":"annie","title":"Annie Hall","director":"Woody Allen","year":1977,"genre":["Comedy"],"imdb":{"rating":8}}"#,
            #"{"_id":"house","title":"House","director":"Nobuhiko Obayashi","year":1977,"genre":["Horror","Comedy"]}"#,
            #"{"_id":"camera","kind":"equipment","cameras":{"secondary":{"name":"s"},"primary":{"name":"p"}},"owner":null}"#,
        ])
        films = try fixture.database.defaultCollection
    }

    @Test(arguments: [
        // Selector basics; two fields; subfields, nested and by dots.
        (#"{"director":"Lars von Trier"}"#, "dogville melancholia"),
        (#"{"director":"Lars von Trier","year":2003}"#, "dogville"),
        (#"{"imdb":{"rating":8}}"#, "annie dogville"), (#"{"imdb.rating":8}"#, "annie dogville"),
        // Explicit operators.
        (#"{"director":{"$eq":"Lars von Trier"}}"#, "dogville melancholia"),
        (#"{"year":{"$gt":2003}}"#, "melancholia"), (#"{"year":{"$gte":2003}}"#, "dogville melancholia"),
        (#"{"director":{"$eq":"Lars von Trier"},"year":{"$eq":2003}}"#, "dogville"),
        (#"{"$and":[{"director":{"$eq":"Lars von Trier"}},{"year":{"$eq":2003}}]}"#, "dogville"),
        (#"{"imdb":{"rating":{"$gt":8}}}"#, "short stars"),
        // Combination operators.
        (#"{"$and":[{"title":"Dogville"},{"year":{"$in":[1920,2003]}}]}"#, "dogville"),
        (#"{"year":1977,"$or":[{"director":"George Lucas"},{"director":"Woody Allen"}]}"#, "annie stars"),
        (#"{"year":{"$gte":1900,"$lte":2020},"$not":{"year":1977}}"#, "dogville melancholia short"),
        (#"{"year":{"$gte":1910},"$nor":[{"year":1977},{"year":2003}]}"#, "melancholia short"),
        (#"{"genre":{"$all":["Comedy","Short"]}}"#, "short"),
        (#"{"genre":{"$elemMatch":{"$eq":"Horror"}}}"#, "house"),
        (#"{"genre":{"$allMatch":{"$eq":"Comedy"}}}"#, "annie"),
        (#"{"cameras":{"$keyMapMatch":{"$eq":"secondary"}}}"#, "camera"),
        // Condition operators.
        (#"{"year":{"$lt":1977}}"#, "short"), (#"{"year":{"$lte":1920}}"#, "short"),
        (#"{"year":{"$ne":1977}}"#, "dogville melancholia short"),
        (#"{"imdb":{"$exists":false},"year":{"$exists":true}}"#, "house"),
        (#"{"owner":{"$type":"null"}}"#, "camera"),
        (#"{"year":{"$nin":[1977,2003]}}"#, "melancholia short"),
        (#"{"genre":{"$size":2}}"#, "house melancholia short stars"),
        (#"{"year":{"$mod":[10,7]}}"#, "annie house stars"),
        (#"{"title":{"$regex":"^[AD].*l"}}"#, "annie dogville"),
        (#"{"title":{"$beginsWith":"Star"}}"#, "stars"),
        (#"{"_id":{"$gt":null}}"#, "annie camera dogville house melancholia short stars"),
    ])
    func documentedSelectorsMatch(_ selector: String, _ expected: String) throws {
        let found = try films.find(json: #"{"selector":\#(selector)}"#).documents
        #expect(found.map { $0["_id"].string ?? "" }.joined(separator: " ") == expected)
    }

    /// The same with an index on what most of them ask for.
    @Test func anIndexChangesNothing() throws {
        let request =
            #"{"selector":{"year":{"$gt":1920},"director":{"$exists":true}},"sort":[{"year":"desc"}],"fields":["title"]}"#
        let expected = try films.find(json: request).documents.map(\.description)
        try films.createIndex("by-year", on: "year")
        #expect(try films.find(json: request).documents.map(\.description) == expected)
        #expect(expected.count == 5 && expected.first == #"{"title":"Melancholia"}"#)
    }

    @Test func sortFieldsLimitAndSkipAreTaken() throws {
        let found = try films.find(
            json:
                #"{"selector":{"year":{"$gt":1910}},"fields":["_id","imdb.rating"],"sort":[{"year":"asc"}],"limit":2,"skip":4}"#
        )
        #expect(
            found.documents.map(\.description) == [
                #"{"_id":"dogville","imdb":{"rating":8}}"#, #"{"_id":"melancholia","imdb":{"rating":7.1}}"#,
            ])
    }
}
