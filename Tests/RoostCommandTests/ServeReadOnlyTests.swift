import ChildProcesses
import Foundation
import Testing

@testable import RoostCommand

/// `roost serve` of a directory that can only be read.
@Suite(.timeLimit(.minutes(2))) struct ServeReadOnlyTests {
    private let directory = Tool()

    /// Mounts the directory for reading only, for itself alone, and asks a server of it.
    private static let script = """
        mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 9
        "$0" serve "$1" --port 0 --admin a --password-file "$2" >"$2.out" 2>&1 &
        server=$!
        while ! url=$(sed -n 's/^roost serves //p' "$2.out" | grep .); do kill -0 $server || { cat "$2.out"; exit 8; }; done
        ask() { curl -s -u a:secret -H 'Content-Type: application/json' -w '%{http_code}\\n' "$@"; }
        ask "$url/notes/a"
        ask "$url/notes/_find" -d '{"selector":{"v":1}}'
        ask "$url/notes/_all_docs?include_docs=true" -o /dev/null
        ask "$url/_all_dbs"
        ask -X PUT "$url/notes/b" -d '{}'
        ask -X PUT "$url/new" -o /dev/null
        ask -X DELETE "$url/notes" -o /dev/null
        kill $server && wait $server
        """

    /// Serves a directory on a file system of 24 MiB, of which a file then takes all but little.
    private static let fullDisk = """
        mount -t tmpfs -o size=24m none "$1" || exit 9
        "$0" serve "$1/data" --port 0 --admin a --password-file "$2" >"$2.out" 2>&1 &
        server=$!
        while ! url=$(sed -n 's/^roost serves //p' "$2.out" | grep .); do kill -0 $server || { cat "$2.out"; exit 8; }; done
        ask() { curl -s -w '%{http_code}\\n' "$@"; }
        ask "$url/_up"
        head -c 12000000 /dev/zero >"$1/large"
        ask "$url/_up"
        rm "$1/large"
        ask "$url/_up"
        kill $server && wait $server
        """

    @Test(.enabled(if: canMount, "needs curl, and Linux's namespaces")) func aFullDiskIsReported() throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let password = directory.path + "-password"
        defer {
            for path in [password, password + ".out"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try "secret\n".write(toFile: password, atomically: true, encoding: .utf8)
        let (status, output) = try ChildProcess.run(
            ["unshare", "-rm", "/bin/bash", "-c", Self.fullDisk, Tool.program, directory.path, password])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(status == 0, "\(lines)")
        #expect(lines.filter { Int($0) != nil } == ["200", "404", "200"], "\(lines)")
        #expect(lines.contains { $0.contains("disk_full") }, "\(lines)")
    }

    private static var canMount: Bool {
        let tried = try? ChildProcess.run(
            ["/bin/sh", "-c", "command -v curl >/dev/null && unshare -rm mount --bind /tmp /tmp"],
            errors: .joined)
        return tried?.status == 0
    }

    @Test(.enabled(if: canMount, "needs curl, and Linux's namespaces")) func whatCanOnlyBeReadIsRead() throws
    {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        #expect(directory.run(["put", directory.path + "/notes.roost", "a", #"{"v":1}"#]).status == 0)
        let password = directory.path + "-password"
        defer {
            for path in [password, password + ".out"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try "secret\n".write(toFile: password, atomically: true, encoding: .utf8)
        let (status, output) = try ChildProcess.run(
            ["unshare", "-rm", "/bin/bash", "-c", Self.script, Tool.program, directory.path, password])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(status == 0, "\(lines)")
        #expect(
            lines.filter { Int($0) != nil } == ["200", "200", "200", "200", "403", "403", "403"], "\(lines)")
        #expect(lines.contains { $0.contains("reading only") }, "\(lines)")
    }
}
