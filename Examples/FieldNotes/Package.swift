// swift-tools-version: 6.2
import PackageDescription

func roost(_ products: String...) -> [Target.Dependency] {
    products.map { .product(name: $0, package: "Roost") }
}

// The model has no view in it, so it is built and tested everywhere; the views are compiled where SwiftUI is.
let package = Package(
    name: "FieldNotes",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "FieldNotesModel", targets: ["FieldNotesModel"])],
    dependencies: [.package(name: "Roost", path: "../..")],
    targets: [
        .target(name: "FieldNotesModel", dependencies: roost("Roost", "RoostQuery", "RoostSync")),
        .executableTarget(name: "FieldNotes", dependencies: ["FieldNotesModel"]),
        .testTarget(
            name: "FieldNotesModelTests", dependencies: ["FieldNotesModel"] + roost("Roost", "RoostSync")),
    ]
)
