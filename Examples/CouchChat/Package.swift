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
        .target(
            name: "ChatService",
            dependencies: ["ChatRules"] + roost("Roost", "RoostREST", "RoostServer"),
            resources: [.embedInCode("page.html")]),
        .target(name: "ChatKit", dependencies: roost("Roost", "RoostQuery", "RoostSync", "Fleece")),
        .executableTarget(name: "chat-server", dependencies: ["ChatService"]),
        .executableTarget(name: "chat", dependencies: ["ChatKit"]),
        .executableTarget(name: "chat-demo", dependencies: ["ChatKit", "ChatService"]),
        .testTarget(
            name: "ChatRulesTests",
            dependencies: ["ChatRules"] + roost("RoostServer", "RoostREST")),
        .testTarget(
            name: "ChatKitTests",
            dependencies: ["ChatKit", "ChatService"] + roost("RoostServer", "RoostSync")),
    ]
)
