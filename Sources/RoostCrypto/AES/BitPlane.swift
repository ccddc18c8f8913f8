/// One bit of each of the 128 bytes in eight AES blocks.
///
/// The bit of a byte stands at place `32·row + 8·column + block` of the state's matrix. Processors differ in the
/// fastest way to hold 128 bits, the operations are the same everywhere.
protocol BitPlane: BitwiseCopyable {
    static func ^ (a: Self, b: Self) -> Self
    static func & (a: Self, b: Self) -> Self

    /// All 64-bit halves equal to `pattern`.
    init(repeating pattern: UInt64)

    /// A block with its matrix transposed: the bytes of row 0 first.
    init(rowsOf block: Block128)

    /// The inverse of ``init(rowsOf:)``.
    var block: Block128 { get }

    /// Shifts within each 64-bit half by a constant.
    func shiftedRight(_ count: Int) -> Self
    func shiftedLeft(_ count: Int) -> Self

    /// Moves each row to the place of the row before it.
    var nextRow: Self { get }
    /// Moves each row to the place of the row two before it.
    var oppositeRow: Self { get }
    /// Moves each column to the place of the column `count` (0…3, a constant) before it.
    func nextColumn(_ count: Int) -> Self
}

#if arch(x86_64) || arch(arm64)
    typealias NativeBitPlane = VectorBitPlane
#else
    typealias NativeBitPlane = ScalarBitPlane
#endif
