import RoostBytes

extension ByteBuffer {
    /// Makes room for `count` bytes in place of what the buffer holds, and returns the memory, to be filled by the caller.
    func emptied(toHold count: Int) -> UnsafeMutableRawBufferPointer {
        reset()
        resize(to: count)
        return unsafe mutableBytes
    }
}
