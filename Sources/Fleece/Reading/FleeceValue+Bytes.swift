extension FleeceValue {
    /// Calls `body` with the UTF-8 of a string, valid during the call, without copying it; `nil` for any other kind.
    @unsafe package func withUTF8<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
        unsafe withBytes(.string, body)
    }
}
