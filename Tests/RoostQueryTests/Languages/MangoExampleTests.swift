import Roost
import RoostQuery
import Testing

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
