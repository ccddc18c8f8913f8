extension Unmanaged {
    /// Runs `body` with the object without counting a reference to it; somebody else keeps it meanwhile.
    @inline(__always)
    func borrowing<R>(_ body: (Instance) throws(StoreError) -> R) throws(StoreError) -> R {
        let result: Result<R, StoreError> = unsafe _withUnsafeGuaranteedRef { object in
            do throws(StoreError) {
                return .success(try body(object))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
