/// A fixed number of values that are read and written very often: without an array's copying and exclusivity checks.
///
/// Belongs to one thread. Indices are checked.
@safe struct Cells<Element>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>?
    let count: Int

    init(_ element: Element, count: Int) {
        self.count = count
        guard count > 0 else {
            unsafe base = nil
            return
        }
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
        unsafe memory.initialize(repeating: element, count: count)
        unsafe base = memory
    }

    deinit {
        unsafe base?.deinitialize(count: count)
        unsafe base?.deallocate()
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base.unsafelyUnwrapped[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < count)
            unsafe base.unsafelyUnwrapped[index] = newValue
        }
    }
}
