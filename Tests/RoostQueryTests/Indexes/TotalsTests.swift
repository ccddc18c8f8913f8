import Foundation
import Roost
import Testing

@testable import RoostQuery

/// What indexes tell of groups and sums is what their documents tell.
@Suite struct TotalsTests {
    private func rows(
        _ text: String, _ fixture: QueryFixture, with indexes: [(String, summing: String?)]
    ) throws -> [[String]] {
        let documents = try fixture.database.defaultCollection
        var found = [try fixture.rows(text)]
        for (columns, summing) in indexes {
            try documents.createIndex("own", on: columns, summing: summing)
            #expect(try fixture.database.query(text).explain().description.contains("own"))
            found.append(try fixture.rows(text))
        }
        return found
    }

    /// Values of groups are read before those of aggregates, and are needed after them.
    @Test(arguments: [
        "SELECT shop, max(price), min(price) FROM _ GROUP BY shop",
        "SELECT shop, max(price) FROM _ GROUP BY shop HAVING shop LIKE 'shop%' ORDER BY shop LIMIT 3",
    ])
    func groupsKeepTheirValues(text: String) throws {
        let fixture = try QueryFixture(
            (0..<400).map { number in
                let price =
                    number % 3 == 0 ? "\(number).0" : number % 7 == 0 ? #"["list",\#(number)]"# : "\(number)"
                return #"{"shop":"shop \#(number % 8)","price":\#(price)}"#
            })
        let found = try rows(text, fixture, with: [("shop, price", nil), ("shop, price", "n")])
        #expect(found[0] == found[1] && found[0] == found[2])
        #expect(found[0].first?.contains("shop 0") == true)
    }

    @Test func greatWholeNumbersStayWhole() throws {
        let fixture = try QueryFixture([
            #"{"g":1,"v":18446744073709551615}"#, #"{"g":2,"v":18446744073709551613}"#, #"{"g":2,"v":1}"#,
            #"{"g":3,"v":9223372036854775809}"#,
        ])
        let extremes = try rows("SELECT max(v), min(v) FROM _ WHERE g >= 1", fixture, with: [("g", "v")])
        #expect(extremes == [["[18446744073709551615,1]"], ["[18446744073709551615,1]"]])
        let sums = try rows("SELECT sum(v) FROM _ WHERE g = 2", fixture, with: [("g", "v")])
        #expect(sums == [["18446744073709551614"], ["18446744073709551614"]])
    }

    @Test func sumsDependOnNoOrder() throws {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let values = [Int64.max, 1, -1]
            let fixture = try QueryFixture(order.map { #"{"g":1,"v":\#(values[$0])}"# })
            let found = try rows("SELECT sum(v), avg(v) FROM _ WHERE g = 1", fixture, with: [("g", "v")])
            #expect(found[0] == ["[9223372036854775807,3.0744573456182584e+18]"])
            #expect(found[0] == found[1])
        }
    }

    /// When a document is to be purged changes without it, so that no index would notice.
    @Test func noIndexHasExpirations() throws {
        let fixture = try QueryFixture([])
        let notes = try fixture.database.defaultCollection
        let message = "The index \"x\": No index has META().expiration"
        for columns in ["META().expiration", "_expiration", "META()", "ifnull(META().expiration, 1)"] {
            #expect(
                QueryFixture.message { try notes.createIndex("x", on: columns) }.hasPrefix(message),
                "\(columns)")
        }
        let partial = QueryFixture.message {
            try notes.createIndex("x", on: "n", where: "META().expiration IS MISSING")
        }
        #expect(partial.hasPrefix(message))
        let included = QueryFixture.message {
            try notes.createIndex("x", on: "n", including: "_expiration")
        }
        #expect(included.hasPrefix(message))
        #expect(try notes.valueIndexes().isEmpty)
    }

    @Test func noIndexHasParameters() throws {
        let fixture = try QueryFixture([])
        let notes = try fixture.database.defaultCollection
        for (columns, condition) in [("n + $p", nil), ("n", "n > $p")] {
            let message = QueryFixture.message { try notes.createIndex("x", on: columns, where: condition) }
            #expect(message.contains("An index has no parameters, and $p is one."))
        }
    }

    /// An index that was made in another time zone has other rows, and is made anew.
    @Test func indexesOfLocalTimeNameTheirZone() throws {
        let zone = TimeZone.current.identifier
        func signature(_ columns: String, where condition: String? = nil) throws -> String {
            try CompiledIndex(ValueIndex("x", on: columns, where: condition)).definition.signature
        }
        #expect(try signature("str_to_millis(s)").hasSuffix("; local time of \(zone)"))
        #expect(try signature("n", where: "millis_to_str(n) > '2020'").hasSuffix("; local time of \(zone)"))
        #expect(try signature("lower(date_add_str(s, 1, 'day'))").hasSuffix("; local time of \(zone)"))
        #expect(try !signature("millis_to_utc(n)").contains("local time"))
    }
}
