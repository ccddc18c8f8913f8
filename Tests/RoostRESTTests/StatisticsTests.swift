import Foundation
import Roost
import RoostWire
import Testing

@testable import RoostREST

/// What a server says of itself below `_node/_local`.
@Suite struct StatisticsTests {
    private func figures(_ test: TestRouter) async throws -> PrometheusReader {
        let answer = try await test.ask("GET", "/_node/_local/_prometheus")
        #expect(answer.status == 200)
        #expect(answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        return try PrometheusReader(answer.text)
    }

    @Test func requestsAndAnswersAreCounted() async throws {
        let test = try TestRouter()
        let before = try await figures(test)
        try await test.ask("PUT", "/db")
        for _ in 0..<3 { try await test.ask("GET", "/db/none") }
        try await test.ask("POST", "/db/_bulk_docs", #"{"docs":[]}"#)
        try await test.ask("GET", "/db/_design/d/_view/v")
        try await test.ask("HEAD", "/db")
        _ = try await test.askAsListener("WHATEVER\"\\", "/db")
        let after = try await figures(test)
        func more(_ name: String) -> Double? {
            after.values[name].map { $0 - (before.values[name] ?? 0) }
        }
        // The first one's own answer was counted after it was made.
        #expect(more("couchdb_httpd_request_methods{method=\"GET\"}") == 5)
        #expect(more("couchdb_httpd_request_methods{method=\"PUT\"}") == 1)
        #expect(more("couchdb_httpd_request_methods{method=\"HEAD\"}") == 1)
        #expect(more("couchdb_httpd_request_methods{method=\"OTHER\"}") == 1)
        #expect(more("couchdb_httpd_requests_total") == 9)
        #expect(more("couchdb_httpd_status_codes{code=\"404\"}") == 4)
        #expect(more("couchdb_httpd_status_codes{code=\"201\"}") == 2)
        #expect(more("couchdb_httpd_status_codes{code=\"401\"}") == 1)
        #expect(more("couchdb_httpd_bulk_requests_total") == 1)
        #expect(more("couchdb_httpd_view_reads_total") == 1)
        #expect(after.values["couchdb_open_databases"] == 1)
        #expect((after.values["couchdb_uptime_seconds"] ?? -1) >= 0)
        #expect((after.values["process_resident_memory_bytes"] ?? 0) > 1_000_000)
        #expect((after.values["process_cpu_seconds_total"] ?? 0) > 0)
    }

    /// The greeting has the server's own version beside the one of CouchDB's API.
    @Test func theGreetingHasTheVersion() async throws {
        let test = try TestRouter()
        let answer = try await test.ask("GET", "/")
        #expect(answer.headers["Server"] == "Roost/\(RoostVersion.number) (CouchDB 3.5.0)")
        #expect((answer["vendor"] as? [String: Any])?["version"] as? String == RoostVersion.number)
        #expect(answer["version"] as? String == "3.5.0")
    }

    @Test func bucketsAreCumulative() async throws {
        let test = try TestRouter()
        for _ in 0..<5 { try await test.ask("GET", "/_up") }
        let figures = try await figures(test)
        let name = "couchdb_request_time_seconds"
        #expect(figures.types[name] == "histogram")
        let buckets = figures.order.filter { $0.hasPrefix("\(name)_bucket") }
        let bounds = buckets.map { $0.split(separator: "\"")[1] }
        let counts = buckets.compactMap { figures.values[$0] }
        #expect(
            bounds.last == "+Inf" && bounds.dropLast().map { Double($0) ?? -1 } == DurationHistogram.bounds)
        #expect(counts == counts.sorted() && counts.last == 5)
        #expect(figures.values["\(name)_count"] == 5)
        #expect((figures.values["\(name)_sum"] ?? 0) > 0)
    }

    @Test func durationsFallIntoTheirBuckets() {
        let histogram = DurationHistogram()
        for duration: Duration in [.microseconds(100), .microseconds(101), .milliseconds(400), .seconds(90)] {
            histogram.add(duration)
        }
        let snapshot = histogram.snapshot
        #expect(snapshot.counts.count == DurationHistogram.bounds.count + 1)
        #expect(snapshot.counts.prefix(3) == [1, 1, 0] && snapshot.counts.last == 1)
        #expect(snapshot.counts[11] == 1 && snapshot.count == 4)
        #expect(abs(snapshot.sum - 90.400201) < 1e-6)
        #expect(snapshot.quantile(0.25) == 0.0001 && snapshot.quantile(1) == 60)
        #expect(DurationHistogram().snapshot.quantile(0.5) == 0)
    }

    @Test func labelsAndHelpAreEscaped() throws {
        var text = PrometheusText()
        text.add(
            "a_b", .gauge, "A \\ in\ntwo \"lines\".", label: "name", [("q\"b\\n\n", "1"), ("plain", "2.5")])
        #expect(
            text.text == #"""
                # HELP a_b A \\ in\ntwo "lines".
                # TYPE a_b gauge
                a_b{name="q\"b\\n\n"} 1
                a_b{name="plain"} 2.5

                """#)
        _ = try PrometheusReader(text.text)
    }

    @Test func figuresHaveCouchDBsForm() async throws {
        let test = try TestRouter()
        try await test.ask("GET", "/_up")
        let all = try await test.ask("GET", "/_node/nonode@nohost/_stats")
        let couchdb = try #require(all["couchdb"] as? [String: Any])
        let methods = try #require(couchdb["httpd_request_methods"] as? [String: [String: Any]])
        #expect(methods["GET"]?["value"] as? Int == 1 && methods["GET"]?["type"] as? String == "counter")
        #expect(methods["GET"]?["desc"] as? String == "number of HTTP GET requests")
        let status = try await test.ask("GET", "/_node/_local/_stats/couchdb/httpd_status_codes/200")
        #expect(status["value"] as? Int == 2)
        let time = try await test.ask("GET", "/_node/_local/_stats/couchdb/request_time")
        let value = try #require(time["value"] as? [String: Any])
        #expect(time["type"] as? String == "histogram" && value["n"] as? Int == 3)
        #expect((value["percentile"] as? [[Double]])?.map(\.first) == [50, 75, 90, 95, 99, 999])
        for target in [
            "_stats/couchdb/none", "_stats/couchdb/httpd/requests/value/x", "_system/x", "_prometheus/x",
        ] {
            #expect(try await test.ask("GET", "/_node/_local/\(target)").status == 404)
        }
        #expect(try await test.ask("POST", "/_node/_local/_stats").status == 405)
        #expect(try await test.ask("GET", "/_node/elsewhere/_stats").status == 404)
        let system = try await test.ask("GET", "/_node/_local/_system")
        #expect(system["uptime"] as? Int == 0 || (system["uptime"] as? Int ?? -1) > 0)
        #expect(((system["memory"] as? [String: Int])?["resident"] ?? 0) > 1 << 20)
    }

    @Test func whoWatchesNeedsARoleOnly() async throws {
        let test = try TestRouter()
        let watcher = UserContext(name: "watcher", roles: ["_metrics"])
        for name in ["_stats", "_system", "_prometheus"] {
            #expect(try await test.ask("GET", "/_node/_local/\(name)", as: watcher).status == 200)
        }
        #expect(try await test.ask("GET", "/_node/_local/_config", as: watcher).status == 403)
        #expect(try await test.ask("GET", "/_node/_local", as: watcher).status == 403)
        let user = #"{"type":"user","name":"watcher","roles":["_metrics"],"password":"x"}"#
        #expect(try await test.ask("PUT", "/_users/org.couchdb.user:watcher", user).status == 201)
        let header = basic("watcher", "x")
        #expect(try await test.askAsListener("GET", "/_node/_local/_stats", headers: header).status == 200)
        #expect(try await test.askAsListener("GET", "/_node/_local/_stats").status == 401)
    }
}

/// Reads the text format of Prometheus, version 0.0.4, and refuses what is not quite that.
struct PrometheusReader {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The type of each family.
    private(set) var types: [String: String] = [:]
    /// The figures by their names and labels, as written.
    private(set) var values: [String: Double] = [:]
    /// The figures in the order in which they stand.
    private(set) var order: [String] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Problem(description: "The last line doesn't end.") }
        var helped: Set<String> = []
        var family = ""
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\\\|\\n)+)/) {
                guard helped.insert(String(match.1)).inserted else {
                    throw Problem(description: "HELP twice: \(line)")
                }
                family = String(match.1)
            } else if let match = line.wholeMatch(
                of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/)
            {
                guard match.1 == family, types[family] == nil else {
                    throw Problem(description: "TYPE out of place: \(line)")
                }
                types[family] = String(match.2)
            } else {
                try readFigure(line, of: family)
            }
        }
    }

    private mutating func readFigure(_ line: Substring, of family: String) throws {
        let pattern =
            /([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\\\|\\"|\\n)*"\})?) ([0-9.e+-]+)/
        guard let match = line.wholeMatch(of: pattern), let value = Double(match.3) else {
            throw Problem(description: "No figure: \(line)")
        }
        let suffixes = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { match.1 == family + $0 }) else {
            throw Problem(description: "\(match.1) is not of \(family).")
        }
        let name = "\(match.1)\(match.2)"
        guard values.updateValue(value, forKey: name) == nil else {
            throw Problem(description: "Twice: \(line)")
        }
        order.append(name)
    }
}
