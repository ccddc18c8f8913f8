// swift-tools-version: 6.2
import PackageDescription

// What a package that uses Roost looks like: no unsafe flags, no setting of Roost's own development. Yours names
// Roost by its address instead of a path.
let documents: [Target.Dependency] = [.product(name: "Roost", package: "Roost")]
let queries: [Target.Dependency] = documents + [.product(name: "RoostQuery", package: "Roost")]
let orderedStore: [Target.Dependency] = [.product(name: "RoostStorage", package: "Roost")]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "Roost", path: "..")],
    targets: [
        .executableTarget(name: "NotesApp", dependencies: queries),
        .executableTarget(name: "PhotoAlbum", dependencies: documents),
        .executableTarget(name: "JobQueue", dependencies: orderedStore),
        .executableTarget(name: "WordCount", dependencies: orderedStore),
    ]
)
