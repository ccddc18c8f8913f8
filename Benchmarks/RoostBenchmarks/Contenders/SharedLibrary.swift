/// Facts about the libraries loaded into this process.
enum SharedLibrary {
    /// The version in the file name of the loaded library `name` ("7.8.3" of librocksdb.so.7.8.3), for peers
    /// whose C API does not tell it.
    static func version(of name: String) -> String {
        let maps = ProcFile.text("self/maps")
        guard let found = maps.range(of: "/\(name).so.") else { return "" }
        return String(maps[found.upperBound...].prefix { $0 != "\n" })
    }
}
