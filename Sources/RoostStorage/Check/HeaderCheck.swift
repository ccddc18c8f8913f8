import RoostBytes
import RoostFile

/// Verifies the header and its copy.
struct HeaderCheck {
    let file: DataFile
    let findings: FindingList

    func run() throws(StoreError) {
        for copy in 0..<2 {
            let offset = copy * Format.blockSize
            let block = ByteBuffer(capacity: Format.blockSize)
            block.resize(to: Format.blockSize)
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: block.mutableBytes, at: UInt64(offset))
            }
            block.resize(to: count)
            let header = try? FileHeader(decoding: block.view)
            let name = copy == 0 ? "header" : "copy of the header"
            if header == nil {
                findings.add("a damaged \(name)", at: UInt64(offset), .warning)
            } else if header != file.header {
                findings.add("a \(name) of another file", at: UInt64(offset), .warning)
            }
        }
    }
}
