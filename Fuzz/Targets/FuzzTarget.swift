/// A way in for bytes from outside, and what must be true whatever they are.
struct FuzzTarget: Sendable {
    /// What `make fuzz` calls it.
    let name: String
    /// The folder of `Fuzz/Corpora` that holds its kept inputs; targets that take the same kind of input share one.
    let corpus: String
    /// The longest input of use, in bytes.
    let largestInput: Int
    /// Whether inputs are data files, which ``StoreMutator`` changes below their checksums.
    let isStore: Bool
    /// Inputs to start from when there is no corpus.
    let seeds: @Sendable () throws -> [[UInt8]]
    /// Feeds the code with an input. Throws a ``FuzzFinding`` when something is true that must not be.
    let run: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, corpus: String? = nil, largestInput: Int = 4096, isStore: Bool = false,
        seeds: @escaping @Sendable () throws -> [[UInt8]], run: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.corpus = corpus ?? name
        self.largestInput = largestInput
        self.isStore = isStore
        self.seeds = seeds
        self.run = run
    }

    /// All of them. A module whose decoders read bytes from a disk, a user or a network adds its targets here.
    static var all: [FuzzTarget] {
        engineDecoders + values + keys + documents + queries + blobs + wire + routers + wholeStores + derived
            + text + blip
    }

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Something that must not be true of an input.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws `what` unless `condition` holds.
func demand(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw FuzzFinding(what()) }
}
