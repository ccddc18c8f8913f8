// swift-tools-version: 6.2
import PackageDescription

// What a package that uses Roost looks like: no unsafe flags, no setting of Roost's own development.
let package = Package(
    name: "Embedding",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .executableTarget(
            name: "Embedding", dependencies: [.product(name: "RoostStorage", package: "Roost")])
    ]
)
