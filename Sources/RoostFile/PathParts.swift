/// The path of the directory that holds the last component of `path`: "." for a bare name, "/" at the root.
package func directoryPart(of path: String) -> String {
    let trimmed = withoutTrailingSlashes(path[...])
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty && !path.isEmpty ? "/" : "." }
    let directory = withoutTrailingSlashes(trimmed[..<slash])
    return directory.isEmpty ? "/" : String(directory)
}

private func withoutTrailingSlashes(_ path: Substring) -> Substring {
    var path = path
    while path.last == "/" { path.removeLast() }
    return path
}
