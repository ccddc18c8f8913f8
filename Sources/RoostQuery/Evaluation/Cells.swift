/// A fixed number of values that are read and written very often: without an array's copying and exclusivity checks.
///
/// Belongs to one thread. Indices are checked.
@safe final class Cells<Element> {
    private let base: UnsafeMutablePointer<Element>
    let count: Int

    init(_ element: Element, count: Int) {
        unsafe base = .allocate(capacity: Swift.max(count, 1))
        unsafe base.initialize(repeating: element, count: Swift.max(count, 1))
        self.count = count
    }

    deinit {
        unsafe base.deinitialize(count: Swift.max(count, 1))
        unsafe base.deallocate()
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base[index]
        }
        set {
            precondition(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }
}
