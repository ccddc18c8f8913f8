import RoostBlobs

/// What a file holds, piece by piece: its bytes, or what they decompress to where they are gzip (RFC 1952), of one member or more.
struct InputContent {
    private static let pieceSize = 1 << 18
    /// Of gzip less is read at a time, since it may become a thousand times as much.
    private static let compressedPieceSize = 1 << 14

    private let file: InputFile
    private let inflater: Inflater?
    private var first: [UInt8]
    /// Bytes of the file read so far.
    private(set) var position: UInt64 = 0

    init(_ file: InputFile) throws {
        self.file = file
        first = []
        var piece: [UInt8] = []
        repeat {
            try file.read(Self.compressedPieceSize, into: &piece)
            first += piece
        } while first.count < 2 && !piece.isEmpty
        inflater = first.starts(with: [0x1F, 0x8B]) ? Inflater(members: .any) : nil
    }

    /// Reads the next piece over `piece`, which is empty at the end.
    mutating func read(into piece: inout [UInt8]) throws {
        guard let inflater else { return try readStored(Self.pieceSize, into: &piece) }
        var stored: [UInt8] = []
        piece.removeAll(keepingCapacity: true)
        while piece.isEmpty {
            try readStored(Self.compressedPieceSize, into: &stored)
            do throws(BlobError) {
                guard !stored.isEmpty else { return try inflater.finish() }
                let bytes = stored
                piece += try inflater.decompress(bytes)
            } catch {
                throw CommandFailure("\(file.name) is not whole, or not gzip: it can't be decompressed.")
            }
        }
    }

    private mutating func readStored(_ count: Int, into piece: inout [UInt8]) throws {
        if first.isEmpty {
            try file.read(count, into: &piece)
        } else {
            piece = first
            first = []
        }
        position += UInt64(piece.count)
    }
}
