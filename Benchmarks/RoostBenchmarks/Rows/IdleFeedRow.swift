import Glibc
import Roost

/// H5: 1,000 clients that wait for changes in continuous feeds.
enum IdleFeedRow {
    private static let feeds = 1_000
    private static let commits = 50

    static func run(on stage: Stage) throws {
        try raiseFileLimit()
        guard let server = try stage.openServer() as? RoostHTTP else {
            throw BenchmarkError("feeds are waited for over HTTP")
        }
        try server.load(1_000, size: stage.corpus.valueSize)
        guard let database = try server.router.databases.database("bench") else {
            throw BenchmarkError("the database is missing")
        }
        // Whatever the first feeds of a process make once is not theirs.
        let first = try open(server, count: 10)
        let before = residentKilobytes()
        let feeds = try open(server, count: feeds - first.count)
        stage.record(.feedMemory, (residentKilobytes() - before) / Double(feeds.count))
        let start = (Clock.now(), Clock.processorSeconds())
        usleep(UInt32(max(stage.seconds, 1) * 1e6))
        let idle = (Clock.processorSeconds() - start.1) / Clock.seconds(since: start.0)
        stage.record(.feedProcessor, idle * 1e3)
        try measureDelays(try database.defaultCollection, first + feeds, on: stage)
        try server.close()
    }

    /// Connections whose feeds have begun.
    private static func open(_ server: RoostHTTP, count: Int) throws -> [HTTPClient] {
        try (0..<count).map { _ in
            let client = try server.client()
            try client.begin(
                ServerRequest(
                    target: ServedDocument.database + "/_changes?feed=continuous&since=now&heartbeat=600000"))
            client.forgetBuffer()
            return client
        }
    }

    /// Records when half of the feeds, and when all of them have a commit: medians.
    private static func measureDelays(
        _ documents: DocumentCollection, _ feeds: [HTTPClient], on stage: Stage
    ) throws {
        var (halves, lasts): ([Double], [Double]) = ([], [])
        for commit in 0..<commits {
            let arrivals = try arrivals(at: feeds) {
                try documents.save(json: #"{"commit":\#(commit)}"#, id: "commit \(commit)")
            }
            halves.append(arrivals.half)
            lasts.append(arrivals.last)
        }
        stage.record(.feedDelay, Summary(halves).median)
        stage.record(.feedDelayOfLast, Summary(lasts).median)
    }

    /// Commits, and waits until all connections have got something; milliseconds after the commit.
    private static func arrivals(
        at feeds: [HTTPClient], _ commit: () throws -> Void
    ) throws -> (half: Double, last: Double) {
        var waiting = feeds.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        var half = 0.0
        var bytes = [UInt8](repeating: 0, count: 4_096)
        try commit()
        let start = Clock.now()
        while !waiting.isEmpty {
            guard unsafe poll(&waiting, nfds_t(waiting.count), 10_000) > 0 else {
                throw BenchmarkError("\(waiting.count) feeds did not get a change within 10 s")
            }
            for feed in waiting where feed.revents != 0 {
                guard unsafe recv(feed.fd, &bytes, bytes.count, 0) > 0 else {
                    throw BenchmarkError("the server hung up")
                }
            }
            waiting.removeAll { $0.revents != 0 }
            if half == 0, waiting.count <= feeds.count / 2 { half = Clock.seconds(since: start) * 1e3 }
        }
        return (half, Clock.seconds(since: start) * 1e3)
    }

    private static func residentKilobytes() -> Double {
        usleep(500_000)
        return ProcFile.number("self/status", "VmRSS:")
    }

    /// Both ends of each connection are in this process.
    private static func raiseFileLimit() throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur > UInt(feeds) * 2 + 100 else {
            throw BenchmarkError("this process may open only \(limit.rlim_cur) files")
        }
    }
}
