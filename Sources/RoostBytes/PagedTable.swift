/// A number for each Unicode scalar, 0 for most: scalars in pages of 64, pages of zeros kept once.
package struct PagedTable: Sendable {
    @usableFromInline var pages: [UInt16]
    @usableFromInline var values: [UInt32]

    @usableFromInline static var pageSize: Int { 64 }
    private static let scalarCount = 0x11_0000

    package init() {
        pages = [UInt16](repeating: 0, count: Self.scalarCount / Self.pageSize)
        values = [UInt32](repeating: 0, count: Self.pageSize)
    }

    @inlinable package subscript(scalar: UInt32) -> UInt32 {
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
