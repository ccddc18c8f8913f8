/// K1 and K2: ciphers, hash functions and key derivation, on all that the processor has and without its instructions
/// for them.
enum PrimitiveRow {
    static func run(on stage: Stage, _ path: PrimitivePath) throws {
        let contender = try stage.primitives()
        let row: Row = path == .hardware ? .primitives : .portablePrimitives
        for primitive in Primitive.allCases {
            stage.record(
                Metric(primitive, row), try contender.rate(primitive, path, seconds: min(stage.seconds, 1)))
        }
    }
}
