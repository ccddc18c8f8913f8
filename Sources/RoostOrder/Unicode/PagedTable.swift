/// A number for each Unicode scalar, 0 for most: scalars in pages of 64, pages of zeros kept once.
struct PagedTable: Sendable {
    private var pages: [UInt16]
    private var values: [UInt32]

    private static let pageSize = 64
    private static let scalarCount = 0x11_0000

    init() {
        pages = [UInt16](repeating: 0, count: Self.scalarCount / Self.pageSize)
        values = [UInt32](repeating: 0, count: Self.pageSize)
    }

    subscript(scalar: UInt32) -> UInt32 {
        get { values[Int(pages[Int(scalar) / Self.pageSize]) * Self.pageSize + Int(scalar) % Self.pageSize] }
        set {
            let page = Int(scalar) / Self.pageSize
            if pages[page] == 0 {
                pages[page] = UInt16(values.count / Self.pageSize)
                values.append(contentsOf: repeatElement(0, count: Self.pageSize))
            }
            values[Int(pages[page]) * Self.pageSize + Int(scalar) % Self.pageSize] = newValue
        }
    }
}
