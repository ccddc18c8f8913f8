import Fleece
import Foundation
import Roost
import RoostQuery

/// The languages of queries: parsing, planning, and running what comes of it.
extension FuzzTarget {
    static let queries = [sql, jsonQuery, mango, queryDocuments]

    private static let sqlTexts = [
        "SELECT a, b.c[0] AS x, count(*) FROM _ WHERE a > 1 AND b LIKE 'x%' GROUP BY a HAVING count(*) > 1 ORDER BY a DESC LIMIT 3",
        "SELECT DISTINCT * FROM _ AS l LEFT JOIN _ AS r ON l.a = META(r).id UNNEST l.tags AS t WHERE t IN ('a', $p)",
        "SELECT CASE WHEN ANY x IN tags SATISFIES x = 'a' END THEN {'k': [1, -2.5e3]} ELSE (SELECT max(a) FROM _) END FROM _",
        "SELECT regexp_replace(s, '(a+)+b', '$1') || upper(s) FROM (SELECT s FROM _) AS q WHERE NOT s IS MISSING COLLATE NOCASE",
        "SELECT date_add_str(d, 1, 'month'), round(a, 2), a / 0 FROM _ WHERE a BETWEEN 1 AND 2 OFFSET 1",
    ]

    private static let jsonTexts = [
        #"{"WHAT":[[".a"],["AS",["count()"],"n"]],"FROM":[{"COLLECTION":"_","AS":"d"}],"WHERE":["AND",[">",[".d.a"],1],["LIKE",[".d.s"],"a%"]],"ORDER_BY":[["DESC",[".d.a"]]],"LIMIT":["$n"]}"#,
        #"["ANY","x",[".tags"],["=",["?x"],"a"]]"#,
        #"["SELECT",{"WHAT":["a",["||","x",[".s"]]],"GROUP_BY":["a"],"HAVING":true}]"#,
        #"{"WHERE":["COLLATE",{"UNICODE":true,"CASE":false},["=",[".s"],"É"]],"DISTINCT":true}"#,
        #"["CASE",null,["IS",[".a"],["MISSING"]],{"a":["[]",1,2]},["regexp_like()",[".s"],"^a.*$"]]"#,
    ]

    private static let mangoTexts = [
        #"{"selector":{"a":{"$gt":1,"$lt":5},"b.c":"x","$or":[{"tags":{"$elemMatch":{"$eq":"a"}}},{"s":{"$regex":"^a(b|c)*"}}]},"fields":["a","b.c"],"sort":[{"a":"desc"}],"limit":5,"skip":1}"#,
        #"{"selector":{"$nor":[{"a":{"$mod":[3,1]}},{"tags":{"$all":["a","b"]}},{"tags":{"$size":2}}],"_id":{"$in":["d1","d2"]}}}"#,
        #"{"selector":{"o":{"$keyMapMatch":{"$eq":"k"}},"n":{"$not":{"$type":"null"}},"s":{"$beginsWith":"a"}}}"#,
    ]

    /// Documents of many shapes, the same for every input.
    private static let queried = Result { () throws -> Database in
        let database = try Database.open(NSTemporaryDirectory() + "roost-fuzz-\(UUID().uuidString)")
        let notes = try database.defaultCollection
        for (number, json) in [
            #"{"a":1,"b":{"c":[1,2]},"s":"aaab","tags":["a","b"],"d":"2024-01-31T00:00:00Z"}"#,
            #"{"a":2.5,"b":"xyz","s":"É","tags":[],"o":{"k":null}}"#, #"{"a":null,"tags":"a","n":[[],{}]}"#,
            "{}",
        ].enumerated() { try notes.save(json: json, id: "d\(number)") }
        return database
    }

    /// Runs what could be prepared; whatever it throws is an answer.
    private static func run(_ query: DatabaseQuery) throws {
        var query = query.with(["p": "b", "n": 2])
        query.options.memoryLimit = 1 << 20
        _ = try? query.explain()
        let first = try? query.fetch()
        let second = try? query.fetch()
        try demand(first == second, "a query that answers differently")
        for row in first ?? [] { _ = (row.json(), row["a"].string) }
    }

    private static let sql = FuzzTarget("sql", largestInput: 512) {
        sqlTexts.map { Array($0.utf8) }
    } run: { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let query = try? queried.get().query(text) else { return }
        try run(query)
    }

    private static let jsonQuery = FuzzTarget("json-query", largestInput: 512) {
        jsonTexts.map { Array($0.utf8) }
    } run: { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let query = try? queried.get().query(json: text) else { return }
        try run(query)
    }

    private static let mixes = [
        """
        SELECT a, count(*), sum(b), max(b) FROM _ WHERE a > 1 OR b = 'x' GROUP BY a HAVING count(*) > 0
        {"a":2,"b":1.5,"list":["x",1]}
        {"a":2.0,"b":"x"}
        {"b":[1],"list":"x"}
        """,
        """
        SELECT DISTINCT t, d.b FROM _ d UNNEST d.list AS t WHERE t = 'x' AND d.a BETWEEN 1 AND 3 ORDER BY d.b
        {"a":1,"b":null,"list":["x","x"]}
        {"a":18446744073709551615,"list":[{"x":1}]}
        """,
        """
        SELECT min(b), avg(a) FROM _ WHERE b = 3 AND ANY t IN list SATISFIES t > 1 END
        {"a":-0.0,"b":3,"list":[0,2]}
        """,
    ]

    /// A query in the first line, documents in the others: the answer has as many rows with indexes and little memory as
    /// without.
    private static let queryDocuments = FuzzTarget("query-documents", largestInput: 1024) {
        mixes.map { Array($0.utf8) }
    } run: { input in
        let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", maxSplits: 12)
        guard let text = lines.first, let database = try? Database.inMemory(),
            let collection = try? database.defaultCollection
        else { return }
        defer { try? database.close() }
        for (number, json) in lines.dropFirst().enumerated() {
            _ = try? collection.save(json: String(json), id: "d\(number)")
        }
        guard var query = try? database.query(String(text), parameters: ["p": "b", "n": 2]) else { return }
        query.options.memoryLimit = 1 << 20
        let plain = try? query.count()
        for index in [
            ValueIndex("ab", on: "a, b DESC", including: "list", summing: "b"),
            ValueIndex("b", on: "b COLLATE NOCASE", summing: "a"), ValueIndex("list", unnesting: "list"),
            ValueIndex("part", on: "b", where: "a > 1"),
        ] {
            try collection.createIndex(
                index.name, on: index.columns, including: index.including, summing: index.summing,
                where: index.condition, unnesting: index.unnesting)
            _ = try? query.explainAnalyze().json
        }
        let indexed = try? query.count()
        try demand(plain == indexed, "\(plain ?? -1) rows without indexes, \(indexed ?? -1) with them")
        query.options.memoryLimit = 1
        let narrow = try? query.count()
        try demand(narrow == nil || narrow == plain, "another answer with little memory")
    }

    private static let mango = FuzzTarget("mango", largestInput: 512) {
        mangoTexts.map { Array($0.utf8) }
    } run: { input in
        let text = String(decoding: input, as: UTF8.self)
        _ = try? queried.get().defaultCollection.find(json: text)
    }
}
