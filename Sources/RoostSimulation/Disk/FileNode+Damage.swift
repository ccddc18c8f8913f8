extension FileNode {
    mutating func flip(at offset: UInt64, mask: UInt8) {
        current.flip(at: offset, mask: mask)
        durable.flip(at: offset, mask: mask)
    }

    mutating func cut(to size: UInt64) {
        if size < current.size { current.truncate(to: size) }
        if size < durable.size { durable.truncate(to: size) }
    }
}

extension FileImage {
    fileprivate mutating func flip(at offset: UInt64, mask: UInt8) {
        var byte: UInt8 = 0
        unsafe withUnsafeMutableBytes(of: &byte) { buffer in
            guard unsafe read(into: buffer, at: offset) == 1 else { return }
            unsafe buffer[0] ^= mask
            unsafe store(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }
}
