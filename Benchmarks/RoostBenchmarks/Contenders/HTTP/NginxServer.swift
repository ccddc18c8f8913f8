import Foundation

/// nginx answering everything with a constant of 300 bytes: what a server costs that has nothing to look up.
final class NginxServer: ServerContender {
    let isConstant = true
    private let port: UInt16
    private let process = Process()

    /// Starts it, with its files in a directory.
    init(_ program: String, _ directory: String) throws {
        port = try FreePort.find()
        let body = String(decoding: ServedDocument.json(1), as: UTF8.self)
        let configuration = """
            daemon off; worker_processes auto; error_log \(directory)/error.log; pid \(directory)/pid;
            events { worker_connections 256; }
            http {
              access_log off; keepalive_requests 1000000000;
              client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
              fastcgi_temp_path \(directory)/fastcgi; uwsgi_temp_path \(directory)/uwsgi;
              scgi_temp_path \(directory)/scgi;
              server {
                listen 127.0.0.1:\(port);
                location / { default_type application/json; return 200 '\(body)'; }
              }
            }
            """
        let file = "\(directory)/nginx.conf"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: file))
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-c", URL(fileURLWithPath: file).path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<100 where (try? HTTPClient(port: port)) == nil { usleep(20_000) }
    }

    func perform(
        clients: Int, _ next: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest?
    ) throws -> Int {
        try perform(clients: clients, port: port, next)
    }

    func close() {
        process.terminate()
        process.waitUntilExit()
    }

    /// The entry, where it is installed.
    static let entry: ContenderEntry? = {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = directories.map { "\($0)/nginx" } + ["/usr/sbin/nginx"]
        guard let program = places.first(where: FileManager.default.isExecutableFile) else { return nil }
        var entry = ContenderEntry(
            name: "nginx", title: "nginx, constant", kind: .raw,
            configuration: "nginx with a worker for each core, answering every GET with the same 300 bytes",
            rows: [.gets], open: { _ in throw BenchmarkError("nginx keeps no store") })
        entry.server = { try NginxServer(program, $0) }
        return entry
    }()
}
