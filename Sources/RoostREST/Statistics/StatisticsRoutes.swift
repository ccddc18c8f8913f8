import Foundation
import RoostWire

/// `_stats`, `_system` and `_prometheus` below `_node/_local`: what the server has done and what it uses.
///
/// For administrators, and for users with CouchDB's role `_metrics`.
enum StatisticsRoutes {
    static let names = ["_stats", "_system", "_prometheus"]
    static let role = "_metrics"

    static func respond(_ context: RequestContext) throws -> HTTPResponse {
        try context.allow("GET")
        switch context.path[2] {
        case "_stats": return try statistics(context)
        case "_system" where context.path.count == 3: return context.answer(system(context))
        case "_prometheus" where context.path.count == 3: return prometheus(context)
        default: throw HTTPFailure.missing
        }
    }

    // MARK: _stats

    /// All figures, or those below the path that follows.
    private static func statistics(_ context: RequestContext) throws -> HTTPResponse {
        var json = all(context)
        for name in context.path.dropFirst(3) {
            guard case .object(let members) = json, let member = members.first(where: { $0.0 == name }) else {
                throw HTTPFailure.missing
            }
            json = member.1
        }
        return context.answer(json)
    }

    private static func all(_ context: RequestContext) -> JSON {
        let statistics = context.router.statistics
        let requests = statistics.requests
        return [
            "couchdb": [
                "httpd": [
                    "requests": figure(requests.reduce(0) { $0 + $1.count }, "number of HTTP requests"),
                    "bulk_requests": figure(statistics.bulkRequests.value, "number of bulk requests"),
                    "view_reads": figure(statistics.viewReads.value, "number of view reads"),
                ],
                "httpd_request_methods": .object(
                    requests.map { ($0.method, figure($0.count, "number of HTTP \($0.method) requests")) }),
                "httpd_status_codes": .object(
                    statistics.answers.map {
                        ("\($0.status)", figure($0.count, "number of HTTP \($0.status) responses"))
                    }),
                "open_databases": figure(
                    context.router.databases.openCount, "number of open databases", kind: "gauge"),
                "request_time": histogram(
                    statistics.durations.snapshot, "length of a request until its answer begins, in ms"),
            ],
            "roost": [
                "connections": figure(
                    statistics.openConnections, "number of open connections", kind: "gauge"),
                "accepted_connections": figure(
                    statistics.openedConnections.value, "number of connections so far"),
                "received_bytes": figure(statistics.receivedBytes.value, "bytes that clients have sent"),
                "sent_bytes": figure(statistics.sentBytes.value, "bytes that clients were sent"),
            ],
        ]
    }

    private static func figure(_ value: some BinaryInteger, _ what: String, kind: String = "counter") -> JSON
    {
        ["value": .number(value), "type": .string(kind), "desc": .string(what)]
    }

    private static func histogram(_ times: DurationHistogram.Snapshot, _ what: String) -> JSON {
        let mean = times.count == 0 ? 0 : times.sum / Double(times.count)
        let value: JSON = [
            "arithmetic_mean": milliseconds(mean), "median": milliseconds(times.quantile(0.5)),
            "percentile": .array(
                [50, 75, 90, 95, 99, 999].map { rank in
                    // The last one stands for 99.9, as in CouchDB.
                    let share = rank > 100 ? Double(rank) / 1000 : Double(rank) / 100
                    return [.number(rank), milliseconds(times.quantile(share))]
                }),
            "histogram": .array(
                zip(DurationHistogram.bounds, times.counts).map { [milliseconds($0), .number($1)] }),
            "n": .number(times.count),
        ]
        return ["value": value, "type": "histogram", "desc": .string(what)]
    }

    private static func milliseconds(_ seconds: Double) -> JSON {
        // To the microsecond, without the noise that binary fractions bring.
        .text(Array("\((seconds * 1_000_000).rounded() / 1000)".utf8))
    }

    // MARK: _system

    private static func system(_ context: RequestContext) -> JSON {
        let usage = ProcessUsage.now
        let statistics = context.router.statistics
        return [
            "uptime": .number(statistics.uptime.components.seconds),
            "memory": ["resident": .number(usage.residentBytes)],
            "context_switches": .number(usage.contextSwitches),
            "io_input": .number(statistics.receivedBytes.value),
            "io_output": .number(statistics.sentBytes.value),
            "message_queues": [:], "internal_replication_jobs": 0,
        ]
    }

    // MARK: _prometheus

    private static func prometheus(_ context: RequestContext) -> HTTPResponse {
        let statistics = context.router.statistics
        let requests = statistics.requests
        let usage = ProcessUsage.now
        let uptime = statistics.uptime.components
        var text = PrometheusText()
        text.add(
            "couchdb_uptime_seconds", .gauge, "Seconds since the server was started.",
            "\(Double(uptime.seconds) + Double(uptime.attoseconds / 1_000_000_000_000_000) / 1000)")
        text.add(
            "couchdb_httpd_requests_total", .counter, "HTTP requests.",
            "\(requests.reduce(0) { $0 + $1.count })")
        text.add(
            "couchdb_httpd_request_methods", .counter, "HTTP requests by method.", label: "method",
            requests.map { ($0.method, "\($0.count)") })
        text.add(
            "couchdb_httpd_status_codes", .counter, "HTTP responses by status.", label: "code",
            statistics.answers.map { ("\($0.status)", "\($0.count)") })
        text.add(
            "couchdb_httpd_bulk_requests_total", .counter, "Requests to _bulk_docs and _bulk_get.",
            "\(statistics.bulkRequests.value)")
        text.add(
            "couchdb_httpd_view_reads_total", .counter, "Requests to views.", "\(statistics.viewReads.value)")
        text.add(
            "couchdb_request_time_seconds", "Time from a request's head to the beginning of its answer.",
            statistics.durations.snapshot)
        text.add(
            "couchdb_open_databases", .gauge, "Databases that are open.",
            "\(context.router.databases.openCount)")
        text.add(
            "roost_open_connections", .gauge, "Connections of clients.", "\(statistics.openConnections)")
        text.add(
            "roost_connections_total", .counter, "Connections of clients so far.",
            "\(statistics.openedConnections.value)")
        text.add(
            "roost_received_bytes_total", .counter, "Bytes that clients have sent.",
            "\(statistics.receivedBytes.value)")
        text.add(
            "roost_sent_bytes_total", .counter, "Bytes that clients were sent.",
            "\(statistics.sentBytes.value)")
        addBounds(of: context.router, to: &text)
        text.add(
            "process_resident_memory_bytes", .gauge, "Resident memory size in bytes.",
            "\(usage.residentBytes)")
        text.add(
            "process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.",
            "\(usage.processorSeconds)")
        return HTTPResponse(
            200, headers: ["Content-Type": PrometheusText.contentType], body: .bytes(Array(text.text.utf8)))
    }

    /// What is bounded: how much of it there is, and how much there may be.
    private static func addBounds(of router: Router, to text: inout PrometheusText) {
        let statistics = router.statistics
        func gauge(_ name: String, _ help: String, _ value: Int) {
            text.add(name, .gauge, help, "\(value)")
        }
        gauge("roost_connections_limit", "Connections that there may be.", statistics.connectionLimit.value)
        text.add(
            "roost_refused_connections_total", .counter,
            "Connections that were refused or closed for want of room.",
            "\(statistics.refusedConnections.value)")
        gauge("roost_feeds", "Feeds of changes that are open.", statistics.feeds.value)
        gauge("roost_web_sockets", "Connections that are WebSockets.", statistics.webSockets.value)
        for (name, help, budget) in [
            ("roost_request_memory", "Memory that requests hold for bodies and answers", router.memory),
            ("roost_unsaved_attachments", "Attachments that no document names yet", router.uploads),
        ] {
            gauge("\(name)_bytes", "\(help).", budget.held)
            gauge("\(name)_limit_bytes", "\(help), at most.", budget.limit)
            gauge("\(name)_waiting", "\(help): requests that wait.", budget.waiting)
        }
        let workers = router.workers.usage
        gauge("roost_workers_busy", "Threads that work for requests.", workers.working)
        gauge("roost_workers_limit", "Threads that work for requests, at most.", workers.limit)
        gauge("roost_workers_waiting", "Jobs that wait for a thread.", workers.waiting)
        gauge(
            "roost_requests_under_way", "Requests that are worked on, or wait for that.",
            router.workPlaces.count)
        let passwords = router.accounts.passwordUsage
        gauge("roost_password_checks_busy", "Threads that check passwords.", passwords.busy)
        gauge("roost_password_checks_waiting", "Log-ins that wait for a thread.", passwords.waiting)
        gauge("roost_password_checks_waiting_limit", "Log-ins that may wait for a thread.", passwords.limit)
        gauge(
            "roost_log_in_attempts", "Names and addresses of which log-ins are remembered.",
            passwords.remembered)
        gauge(
            "roost_log_in_attempts_limit", "Names and addresses of which log-ins are remembered, at most.",
            3 * LoginAttempts.mostEntries)
        gauge("roost_rate_senders", "Addresses and users whose requests are counted.", router.rates.count)
        gauge(
            "roost_rate_senders_limit", "Addresses and users whose requests are counted, at most.",
            RequestRates.mostSenders)
    }
}

/// Figures in the text format of Prometheus, version 0.0.4.
struct PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var text = ""

    /// Begins a family of figures. Those that follow are of it.
    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A figure on its own.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        begin(name, kind, help)
        text += "\(name) \(value)\n"
    }

    /// A figure for each value of a label.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, label: String,
        _ values: [(label: String, value: String)]
    ) {
        begin(name, kind, help)
        for value in values {
            text += "\(name){\(label)=\"\(Self.escaped(value.label, quotes: true))\"} \(value.value)\n"
        }
    }

    /// A histogram; each bucket counts those of the buckets before it, too.
    mutating func add(_ name: String, _ help: String, _ histogram: DurationHistogram.Snapshot) {
        begin(name, .histogram, help)
        var count: UInt64 = 0
        let bounds = DurationHistogram.bounds.map { "\($0)" } + ["+Inf"]
        for (bound, more) in zip(bounds, histogram.counts) {
            count += more
            text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
        }
        text += "\(name)_sum \(histogram.sum)\n\(name)_count \(count)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        let lines = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? lines.replacing("\"", with: "\\\"") : lines
    }
}

/// What this process uses of the machine.
struct ProcessUsage {
    /// Bytes of memory that are its own now; 0 where the system doesn't tell.
    let residentBytes: UInt64
    /// Seconds that its threads have run, and the system for them.
    let processorSeconds: Double
    /// How often the system took a thread from its processor.
    let contextSwitches: UInt64

    static var now: ProcessUsage {
        var usage = rusage()
        #if canImport(Glibc)
            unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            unsafe getrusage(RUSAGE_SELF, &usage)
        #endif
        return ProcessUsage(
            residentBytes: resident, processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            contextSwitches: UInt64(clamping: usage.ru_nvcsw) + UInt64(clamping: usage.ru_nivcsw))
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    #if canImport(Darwin)
        private static var resident: UInt64 {
            // Each call adds a right to the task's port, which has to be given back.
            let task = task_self_trap()
            defer { mach_port_deallocate(task, task) }
            var info = mach_task_basic_info()
            var count = mach_msg_type_number_t(
                MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
            let status = unsafe withUnsafeMutablePointer(to: &info) { pointer in
                unsafe pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                    unsafe task_info(task, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
                }
            }
            return status == KERN_SUCCESS ? info.resident_size : 0
        }
    #else
        /// The second number of `statm` is pages (proc_pid_statm(5)).
        private static var resident: UInt64 {
            guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
                return 0
            }
            let numbers = text.split(separator: " ")
            return numbers.count > 1 ? (UInt64(numbers[1]) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 0
        }
    #endif
}
