// swift-tools-version: 6.2
import PackageDescription

func roost(_ products: String...) -> [Target.Dependency] {
    products.map { .product(name: $0, package: "Roost") }
}

let package = Package(
    name: "CouchChat",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .target(
            name: "ChatRules", dependencies: roost("Roost", "RoostREST", "Fleece"),
            resources: [.embedInCode("sync-function.js")]),
        .testTarget(
            name: "ChatRulesTests", dependencies: ["ChatRules"] + roost("RoostServer", "RoostREST")),
    ]
)
