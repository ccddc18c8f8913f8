import RoostBlobs

/// Compresses what is written, as one gzip member.
final class GzipOutput {
    private let deflater = Deflater()
    private let write: ([UInt8]) throws -> Void

    /// - Parameter write: takes what comes out.
    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    func append(_ bytes: [UInt8]) throws { try write(try deflater.compress(bytes)) }

    func finish() throws { try write(try deflater.finish()) }
}
