// swift-tools-version: 6.2
import PackageDescription

// Roost's own builds set ROOST_DEVELOPMENT=1 (the Makefile does). It turns warnings into errors and adds
// the benchmark and fuzzing targets, none of which a package that depends on Roost ever builds.
let isDevelopment = Context.environment["ROOST_DEVELOPMENT"] != nil

let isFuzzing = Context.environment["ROOST_FUZZING"] != nil

/// Set for the thread sanitizer, which needs locks that it can see.
let isSanitizing = Context.environment["ROOST_SANITIZING"] != nil

let strict: [SwiftSetting] =
    [.strictMemorySafety(), .swiftLanguageMode(.v6)]
    + (isDevelopment
        ? [.treatAllWarnings(as: .error), .define("ROOST_FAILPOINTS", .when(configuration: .debug))] : [])
    + (isSanitizing ? [.define("ROOST_SANITIZING")] : [])

/// HTTP by URLSession, which is Apple's, is compiled and tested on Linux too, in Roost's own debug builds alone: a program there
/// would be larger by all that Foundation's networking brings along.
let session: [SwiftSetting] =
    isDevelopment ? [.define("ROOST_URLSESSION", .when(configuration: .debug))] : []

/// A layer of the house: `Sources/<name>` importing only what is listed (checked by CI).
func layer(
    _ name: String, _ imports: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: imports, swiftSettings: strict + settings)
}

/// A layer in which tests spend most of their time: optimised in Roost's own debug builds too, where it keeps its assertions.
/// The thread sanitizer gets it as it is written, because a race that the optimizer removes is a race still.
func engineLayer(_ name: String, _ imports: [Target.Dependency] = []) -> Target {
    let layer = layer(name, imports)
    if isDevelopment && !isSanitizing {
        layer.swiftSettings? += [
            .unsafeFlags(
                ["-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug"],
                .when(configuration: .debug))
        ]
    }
    return layer
}

func tests(
    _ name: String, _ imports: [Target.Dependency], exclude: [String] = [], settings: [SwiftSetting] = []
) -> Target {
    .testTarget(name: name, dependencies: imports, exclude: exclude, swiftSettings: strict + settings)
}

/// The benchmark program and the peers it is built with; Linux only, as it reads /proc and counts system calls.
/// `ROOST_PEERS` lists the installed ones (`Benchmarks/run` sets it); a package manifest's evaluation is
/// cached, so looking for header files here would miss a library that was installed later.
func benchmarkTargets() -> [Target] {
    #if os(Linux)
        guard isDevelopment else { return [] }
        let peers = (Context.environment["ROOST_PEERS"] ?? "").split(separator: " ").map(String.init)
        let program = Target.executableTarget(
            name: "RoostBenchmarks",
            dependencies: [
                "WriteCounters", "Roost", "RoostQuery", "RoostStorage", "RoostCrypto", "RoostBytes", "Fleece",
                "RoostWire", "RoostREST", "RoostServer", "RoostSync",
                "RoostScript",
            ]
                + peers.map { .byName(name: "C\($0)") },
            path: "Benchmarks/RoostBenchmarks",
            swiftSettings: strict + peers.map { .define("PEER_\($0)") })
        return [program, .target(name: "WriteCounters", path: "Benchmarks/WriteCounters")]
            + peers.map { .systemLibrary(name: "C\($0)", path: "Benchmarks/Peers/C\($0)") }
    #else
        return []
    #endif
}

func benchmarkProducts() -> [Product] {
    #if os(Linux)
        return isDevelopment ? [.executable(name: "roost-bench", targets: ["RoostBenchmarks"])] : []
    #else
        return []
    #endif
}

/// The program behind `make simulate`.
func simulationTargets() -> [Target] {
    guard isDevelopment else { return [] }
    return [
        .executableTarget(
            name: "RoostSimulate",
            dependencies: [
                "RoostCampaign", "RoostBlobCampaign", "RoostDerivedCampaign", "Roost", "RoostBlobs",
                "RoostIndex",
                "RoostStorage",
            ],
            swiftSettings: strict)
    ]
}

func simulationProducts() -> [Product] {
    isDevelopment ? [.executable(name: "roost-simulate", targets: ["RoostSimulate"])] : []
}

/// The fuzzers. `Fuzz/run` sets ROOST_FUZZING and builds them with libFuzzer; everywhere else the same targets are fed with
/// the kept corpora, as tests.
func fuzzingTargets() -> [Target] {
    guard isDevelopment else { return [] }
    let parts: [Target.Dependency] = [
        "Roost", "RoostStorage", "RoostBlobs", "RoostCrypto", "RoostBytes", "RoostFile", "Fleece",
        "RoostOrder", "RoostIndex", "RoostText", "RoostQuery", "RoostWire", "RoostBLIP", "RoostREST",
        "RoostSimulation",
        "RoostCampaign",
    ]
    guard isFuzzing else {
        return [
            .testTarget(
                name: "RoostFuzzTests", dependencies: parts, path: "Fuzz",
                exclude: ["Corpora", "CLibFuzzer", "Driver", "README.md", "run"],
                sources: ["Targets", "Mutation", "Tests"], swiftSettings: strict)
        ]
    }
    return [
        .systemLibrary(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "RoostFuzz", dependencies: parts + ["CLibFuzzer"], path: "Fuzz",
            exclude: ["Corpora", "CLibFuzzer", "Tests", "README.md", "run"],
            sources: ["Targets", "Mutation", "Driver"], swiftSettings: strict),
    ]
}

func fuzzingProducts() -> [Product] {
    isDevelopment && isFuzzing ? [.executable(name: "roost-fuzz", targets: ["RoostFuzz"])] : []
}

let package = Package(
    name: "Roost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Roost", targets: ["Roost"]),
        .library(name: "RoostQuery", targets: ["RoostQuery", "RoostText"]),
        .library(name: "RoostStorage", targets: ["RoostStorage"]),
        .library(name: "Fleece", targets: ["Fleece"]),
        .library(name: "RoostREST", targets: ["RoostREST", "RoostWire"]),
        .library(name: "RoostServer", targets: ["RoostServer", "RoostScript", "RoostREST", "RoostWire"]),
        .library(name: "RoostSync", targets: ["RoostSync"]),
        .executable(name: "roost", targets: ["RoostCommand"]),
    ] + benchmarkProducts() + simulationProducts() + fuzzingProducts(),
    traits: [
        // One trait at most is on by default: SwiftPM passes several to the compiler in an order that differs from
        // build to build, and then compiles everything again.
        .default(enabledTraits: ["TLS"]),
        .trait(name: "TLS", description: "`RoostServer` serves over TLS, by OpenSSL on Linux."),
    ],
    targets: [
        .systemLibrary(name: "CRoostHardware"),
        .systemLibrary(name: "CRoostZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CRoostCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CRoostEpoll"),
        .systemLibrary(name: "CRoostPrefetch"),
        .systemLibrary(name: "CRoostOpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        engineLayer("RoostBytes"),
        engineLayer(
            "RoostCrypto",
            ["RoostBytes", "CRoostHardware"]),
        engineLayer("RoostFile", ["RoostBytes"]),
        engineLayer("RoostStorage", ["RoostBytes", "RoostFile", "CRoostPrefetch", "CRoostZlib"]),
        engineLayer("RoostBlobs", ["RoostBytes", "RoostCrypto", "RoostFile", "CRoostZlib"]),
        engineLayer("Fleece", ["RoostBytes"]),
        engineLayer("RoostOrder", ["RoostBytes", "Fleece", "CRoostZlib"]),
        engineLayer("RoostText", ["RoostBytes"]),
        engineLayer(
            "Roost", ["RoostBytes", "RoostCrypto", "RoostFile", "RoostStorage", "RoostBlobs", "Fleece"]),
        layer("RoostWire", ["RoostBytes", "RoostCrypto", "CRoostZlib"]),
        layer("RoostBLIP", ["RoostBytes", "RoostWire", "CRoostZlib"]),
        engineLayer(
            "RoostIndex",
            ["RoostBytes", "RoostCrypto", "RoostStorage", "Fleece", "RoostOrder", "Roost"]),
        layer(
            "RoostQuery",
            [
                "RoostBytes", "RoostCrypto", "RoostStorage", "Fleece", "Roost", "RoostOrder", "RoostIndex",
                "RoostText",
            ]),
        layer(
            "RoostSync",
            [
                "RoostBytes", "RoostCrypto", "Fleece", "Roost", "RoostWire", "RoostBLIP",
                .target(name: "CRoostCurl", condition: .when(platforms: [.linux])),
            ], settings: session),
        layer(
            "RoostREST",
            [
                "RoostBytes", "RoostCrypto", "Fleece", "Roost", "RoostQuery", "RoostWire", "RoostBLIP",
                "RoostSync",
            ]),
        layer(
            "RoostServer",
            [
                "RoostWire", "RoostREST", .target(name: "CRoostEpoll", condition: .when(platforms: [.linux])),
                .target(name: "CRoostOpenSSL", condition: .when(platforms: [.linux], traits: ["TLS"])),
            ]),
        layer("RoostScript", ["RoostCrypto", "Fleece", "Roost", "RoostQuery", "RoostREST"]),
        engineLayer("RoostSimulation", ["RoostFile"]),
        engineLayer("RoostCampaign", ["RoostBytes", "RoostFile", "RoostStorage", "RoostSimulation"]),
        layer(
            "RoostBlobCampaign",
            ["RoostFile", "RoostBlobs", "RoostStorage", "Roost", "RoostSimulation", "RoostCampaign"]),
        layer(
            "RoostDerivedCampaign",
            [
                "Fleece", "Roost", "RoostFile", "RoostStorage", "RoostIndex", "RoostQuery", "RoostSimulation",
                "RoostCampaign",
            ]),
        .executableTarget(
            name: "RoostCommand",
            dependencies: [
                "Roost", "RoostIndex", "RoostQuery", "RoostText", "RoostSync", "RoostStorage", "RoostBlobs",
                "Fleece",
                "RoostREST", "RoostServer", "RoostScript",
            ],
            swiftSettings: strict),
        tests("RoostBytesTests", ["RoostBytes"]),
        tests(
            "RoostSyncTests",
            ["RoostSync", "RoostServer", "RoostREST", "RoostBLIP", "RoostWire", "Roost", "TestCertificates"],
            settings: session),
        tests("RoostCryptoTests", ["RoostCrypto"], exclude: ["Vectors"]),
        tests("RoostFileTests", ["RoostFile", "RoostSimulation", "ChildProcesses"]),
        tests(
            "RoostStorageTests",
            [
                "RoostStorage", "RoostFile", "RoostBytes", "RoostSimulation", "RoostCampaign", "CommitWriter",
                "ChildProcesses",
            ],
            exclude: ["Golden"]),
        .target(name: "ChildProcesses", path: "Tests/ChildProcesses", swiftSettings: strict),
        .executableTarget(
            name: "CommitWriter", dependencies: ["RoostCampaign", "RoostStorage"], path: "Tests/CommitWriter",
            swiftSettings: strict),
        tests(
            "RoostBlobsTests",
            ["RoostBlobs", "RoostBytes", "RoostCrypto", "RoostFile", "RoostSimulation", "ChildProcesses"],
            exclude: ["Vectors"]),
        tests("FleeceTests", ["Fleece"], exclude: ["Vectors"]),
        tests("RoostOrderTests", ["RoostOrder", "RoostBytes", "Fleece"], exclude: ["Vectors"]),
        tests("RoostTextTests", ["RoostText", "RoostBytes", "RoostSimulation"], exclude: ["Vectors"]),
        tests("RoostWireTests", ["RoostWire", "CRoostZlib"]),
        tests("RoostBLIPTests", ["RoostBLIP", "RoostWire"], exclude: ["Recorded"]),
        tests(
            "RoostIndexTests",
            [
                "RoostIndex", "RoostOrder", "Roost", "RoostStorage", "RoostBytes", "RoostFile", "Fleece",
                "RoostSimulation",
            ]),
        tests(
            "RoostQueryTests",
            [
                "RoostQuery", "RoostText", "RoostIndex", "RoostOrder", "Roost", "RoostStorage", "RoostBytes",
                "RoostFile", "Fleece",
                "RoostSimulation", "RoostDerivedCampaign",
            ]),
        tests(
            "RoostRESTTests",
            ["RoostREST", "RoostBLIP", "RoostWire", "RoostQuery", "Roost", "Fleece", "RoostSimulation"]),
        .executableTarget(
            name: "ScriptHost", dependencies: ["RoostScript"], path: "Tests/ScriptHost", swiftSettings: strict
        ),
        tests(
            "RoostScriptTests", ["RoostScript", "RoostREST", "RoostWire", "Roost", "Fleece", "ScriptHost"]),
        .target(
            name: "TestCertificates", dependencies: ["ChildProcesses"], path: "Tests/TestCertificates",
            swiftSettings: strict),
        tests(
            "RoostServerTests",
            [
                "RoostServer", "RoostREST", "RoostBLIP", "RoostWire", "RoostBytes", "RoostCrypto", "Roost",
                "Fleece",
                "TestCertificates", "ChildProcesses",
            ]),
        tests(
            "RoostCommandTests",
            [
                "RoostCommand", "Roost", "RoostCrypto", "RoostQuery", "RoostStorage", "RoostREST",
                "RoostServer",
                "TestCertificates", "DatabaseWriter", "ChildProcesses",
            ], exclude: ["Golden"]),
        tests(
            "RoostTests",
            [
                "Roost", "RoostStorage", "RoostFile", "RoostBlobs", "RoostSimulation", "RoostCampaign",
                "RoostBlobCampaign",
                "DatabaseWriter",
                "ChildProcesses",
            ],
            exclude: ["Golden"]),
        .executableTarget(
            name: "DatabaseWriter", dependencies: ["Roost"], path: "Tests/DatabaseWriter",
            swiftSettings: strict),
    ] + benchmarkTargets() + simulationTargets() + fuzzingTargets()
)

// The thread sanitizer runs on the engine alone. What is above it compiles with the sanitizer and with locks that it sees, but its
// tests, which import both kinds of `Mutex`, do not yet.
if isSanitizing {
    let engine = [
        "RoostBytes", "RoostFile", "RoostStorage", "RoostSimulation", "RoostCampaign",
        "CommitWriter", "ChildProcesses",
        "RoostFileTests", "RoostStorageTests",
    ]
    package.targets.removeAll { !engine.contains($0.name) && $0.type != .system }
    package.products.removeAll { $0.name != "RoostStorage" }
}
