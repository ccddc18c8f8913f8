import RoostBytes

/// The first block of a file, of which the second block is a copy. Written once, when the file is made.
struct FileHeader: Sendable, Equatable {
    static let magic: [UInt8] = [0x52, 0x6F, 0x6F, 0x73, 0x74, 0x0A, 0x1A, 0x00]
    /// The most that a chunk transform may keep in the header, in bytes.
    static let maximumParameterLength = 2048

    /// Features that a reader without them may ignore, must not write beside, and must refuse.
    var ignorableFeatures: UInt64 = 0
    var readOnlyFeatures: UInt64 = 0
    var requiredFeatures: UInt64 = 0
    /// Names the store through all its compactions.
    var storeID: [UInt8]
    /// Names this file; each compaction makes a new one.
    var fileID: [UInt8]
    /// Seeds all checksums of the file. Never shown, so that no value can be made to look like a commit.
    var salt: UInt64
    /// Microseconds since 1970.
    var created: UInt64
    /// How many compactions lie behind this file.
    var generation: UInt64
    /// What the chunk transform needs to open the file: never a bare key.
    var transformParameters: [UInt8] = []

    /// Chunks are transformed (encrypted): a reader without the transform can do nothing.
    static let transformedFeature: UInt64 = 1

    private static let parametersOffset = 104

    /// The block of ``Format/blockSize`` bytes.
    func encoded() -> ByteBuffer {
        let block = ByteBuffer(capacity: Format.blockSize)
        block.append(FileHeader.magic)
        block.append(integer: Format.version)
        block.append(integer: UInt32(0))
        block.append(integer: ignorableFeatures)
        block.append(integer: readOnlyFeatures)
        block.append(integer: requiredFeatures)
        block.append(storeID)
        block.append(fileID)
        block.append(integer: salt)
        block.append(integer: created)
        block.append(integer: generation)
        block.append(integer: UInt32(0))
        block.append(integer: UInt32(transformParameters.count))
        block.append(transformParameters)
        block.append(zeros: Format.blockSize - 8 - block.count)
        block.append(integer: Checksum.of(block.view, seed: 0))
        return block
    }

    /// Why a block is no header.
    enum Refusal: Error, Equatable {
        case notAHeader
        case damaged
        case newerVersion(UInt32)
        case unknownFeatures(UInt64)
        /// A key was given for a file that needs none.
        case notTransformed
    }

    /// Reads a header block; `features` are the required features that the caller can handle.
    init(decoding block: ByteView, features: UInt64 = FileHeader.transformedFeature) throws(Refusal) {
        guard block.count == Format.blockSize,
            FileHeader.magic.withView({ block.slice(0, 8).compare($0) }) == 0
        else { throw .notAHeader }
        let checksum: UInt64 = block.load(at: Format.blockSize - 8)
        guard Checksum.of(block.slice(0, Format.blockSize - 8), seed: 0) == checksum else { throw .damaged }
        let version: UInt32 = block.load(at: 8)
        guard version == Format.version else { throw .newerVersion(version) }
        ignorableFeatures = block.load(at: 16)
        readOnlyFeatures = block.load(at: 24)
        requiredFeatures = block.load(at: 32)
        guard requiredFeatures & ~features == 0 else { throw .unknownFeatures(requiredFeatures & ~features) }
        storeID = block.slice(40, 16).array
        fileID = block.slice(56, 16).array
        salt = block.load(at: 72)
        created = block.load(at: 80)
        generation = block.load(at: 88)
        let length = Int(block.load(UInt32.self, at: 100))
        guard length <= FileHeader.maximumParameterLength else { throw .damaged }
        transformParameters = block.slice(FileHeader.parametersOffset, length).array
    }

    /// A header for a new file.
    init(storeID: [UInt8], fileID: [UInt8], salt: UInt64, created: UInt64, generation: UInt64) {
        self.storeID = storeID
        self.fileID = fileID
        self.salt = salt
        self.created = created
        self.generation = generation
    }
}
