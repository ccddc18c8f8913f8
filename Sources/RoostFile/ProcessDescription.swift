#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// This process as a message to others names it: `process 4711 (notesd)`.
package func processDescription() -> String {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? "unknown"
    return "process \(getpid()) (\(name))"
}
