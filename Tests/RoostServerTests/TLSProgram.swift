import ChildProcesses
import Foundation

/// A program of somebody else's that talks to the server over TLS. No thread of the tasks' waits for it.
enum TLSProgram {
    /// Runs a program; answers its exit status and what it printed, errors too.
    static func run(_ arguments: [String], input: String = "") async throws -> (status: Int32, output: String)
    {
        let (status, output) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ChildProcess.run(arguments, input: input) })
            }
        }
        return (status, String(decoding: output, as: UTF8.self))
    }

    /// Runs a program in Python with `connect()`, which answers a socket over TLS whose end must be an orderly one, and
    /// `everything(socket)`, what comes until that end; `raw()` is a socket without TLS.
    static func python(
        _ test: TestServer, authority: String, _ script: String
    ) async throws -> (status: Int32, output: String) {
        let prelude = """
            import socket, ssl, struct, sys
            def context(): return ssl.create_default_context(cafile=sys.argv[2])
            def raw(): return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            def connect(c=None):
                return (c or context()).wrap_socket(raw(), server_hostname="localhost", suppress_ragged_eofs=False)
            def everything(s):
                whole = bytearray()
                while piece := s.recv(65536): whole += piece
                return bytes(whole)

            """
        return try await run(["python3", "-c", prelude + script, "\(test.server.port)", authority])
    }
}
