/// What the name of a file tells of what it holds.
struct FileFormat {
    /// Whether it holds values with separators between them, by `.csv` or `.tsv`.
    let isCSV: Bool
    /// Whether tabs separate them.
    let hasTabs: Bool
    /// Whether it is compressed, by `.gz` at its end.
    let isGzip: Bool

    init(path: String) {
        var name = path.lowercased()[...]
        isGzip = name.hasSuffix(".gz")
        if isGzip { name = name.dropLast(3) }
        hasTabs = name.hasSuffix(".tsv")
        isCSV = hasTabs || name.hasSuffix(".csv")
    }
}
