import RoostFile

extension File {
    /// One write call.
    @discardableResult
    func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) -> Int {
        unsafe try result(of: bytes) { buffer throws(FileError) in unsafe try self.write(buffer, at: offset) }
    }

    func writeFully(_ bytes: [UInt8], at offset: UInt64 = 0) throws(FileError) {
        _ = unsafe try result(of: bytes) { buffer throws(FileError) in
            unsafe try self.writeFully(buffer, at: offset)
            return 0
        }
    }

    /// The bytes one read call gives.
    func read(_ count: Int, at offset: UInt64) throws(FileError) -> [UInt8] {
        unsafe try filled(count) { buffer throws(FileError) in unsafe try self.read(into: buffer, at: offset)
        }
    }

    func readFully(_ count: Int, at offset: UInt64 = 0) throws(FileError) -> [UInt8] {
        unsafe try filled(count) { buffer throws(FileError) in
            unsafe try self.readFully(into: buffer, at: offset)
        }
    }

    private func result(
        of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(FileError) -> Int
    ) throws(FileError) -> Int {
        unsafe try bytes.withUnsafeBytes { buffer -> Result<Int, FileError> in
            do throws(FileError) { return .success(unsafe try body(buffer)) } catch { return .failure(error) }
        }.get()
    }

    private func filled(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    ) throws(FileError) -> [UInt8] {
        // A pattern that no test writes, so that bytes nobody filled are noticed.
        var bytes = [UInt8](repeating: 0xA5, count: count)
        let done = unsafe try bytes.withUnsafeMutableBytes { buffer -> Result<Int, FileError> in
            do throws(FileError) { return .success(unsafe try body(buffer)) } catch { return .failure(error) }
        }.get()
        return Array(bytes.prefix(done))
    }
}

/// Bytes that differ from sector to sector and from salt to salt, none of them zero.
func pattern(_ count: Int, salt: Int = 0) -> [UInt8] {
    (0..<count).map { (index: Int) -> UInt8 in
        let mixed = index * 7 + index / 512 * 31 + salt * 101
        return UInt8(1 + mixed % 251)
    }
}
