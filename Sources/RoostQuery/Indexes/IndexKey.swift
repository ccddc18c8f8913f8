import RoostBytes
import RoostOrder

/// Writes the key of an index's row from the values of its columns. Belongs to one thread.
final class IndexKey {
    private let columns: [(encoder: KeyEncoder, isDescending: Bool)]
    private let buffer = ByteBuffer()

    init(_ columns: [CompiledIndex.Column]) {
        self.columns = columns.map { (KeyEncoder($0.collation), $0.isDescending) }
    }

    /// What was written last; valid until the next call of ``set(_:)``.
    var view: ByteView { buffer.view }

    /// - Parameter value: says what a column has.
    @inline(__always)
    func set(_ value: (_ column: Int) -> Value) {
        buffer.reset()
        for index in columns.indices {
            let column = columns[index]
            column.encoder.reset()
            column.encoder.append(value(index))
            if column.isDescending { column.encoder.complement(from: 0) }
            buffer.append(column.encoder.view)
        }
    }
}
