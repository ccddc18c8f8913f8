import RoostCrypto

/// Where the frames of an encrypted blob are. A frame takes 4096 bytes of the file, the last one what it needs: its
/// ciphertext and the tag of 16 bytes. The header comes first in frame 0. There is always one frame.
enum Frames {
    static let length = 4096
    /// The content in a frame other than the first, in bytes.
    static let capacity = length - AES256GCM.tagByteCount
    /// The content in frame 0, in bytes.
    static let firstCapacity = capacity - SealedHeader.length
    /// The longest content: far below what frame numbers and file offsets can count.
    static let maximumContent: UInt64 = 1 << 62

    /// How many frames hold `content` bytes.
    static func count(_ content: UInt64) -> UInt64 {
        content <= UInt64(firstCapacity)
            ? 1 : 1 + (content - UInt64(firstCapacity) + UInt64(capacity) - 1) / UInt64(capacity)
    }

    /// The size of the file that holds `content` bytes.
    static func fileSize(_ content: UInt64) -> UInt64 {
        UInt64(SealedHeader.length) + content + count(content) * UInt64(AES256GCM.tagByteCount)
    }

    /// The frame that holds the byte at `offset` of the content.
    static func index(of offset: UInt64) -> UInt64 {
        offset < UInt64(firstCapacity) ? 0 : 1 + (offset - UInt64(firstCapacity)) / UInt64(capacity)
    }

    /// The offset in the content of a frame's first byte.
    static func contentOffset(_ frame: UInt64) -> UInt64 {
        frame == 0 ? 0 : UInt64(firstCapacity) + (frame - 1) * UInt64(capacity)
    }

    /// The offset in the file of a frame's ciphertext.
    static func fileOffset(_ frame: UInt64) -> UInt64 {
        frame == 0 ? UInt64(SealedHeader.length) : frame * UInt64(length)
    }

    /// The most content that a frame can hold.
    static func capacity(of frame: UInt64) -> Int { frame == 0 ? firstCapacity : capacity }
}

/// Seals and opens the frames of one file with AES-256-GCM under the file's frame key.
///
/// The nonce is the frame's number (8 bytes, little-endian), 1 in the last frame and 0 in others (1 byte), and three
/// zeros: a frame opens in its place only, and only in its file, whose key no other file has. Each nonce is used once,
/// because a file is written once.
struct FrameCipher {
    private let cipher: AES256GCM

    init(_ key: SymmetricKey) { cipher = AES256GCM(derived: key) }

    /// - Precondition: `output` has 16 bytes more than `text`.
    func seal(
        _ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, frame: UInt64,
        isLast: Bool
    ) {
        let nonce = Self.nonce(frame, isLast)
        unsafe withUnsafeBytes(of: nonce) {
            let nonce = unsafe UnsafeRawBufferPointer(rebasing: $0[..<AES256GCM.nonceByteCount])
            unsafe cipher.seal(
                text, into: output, nonce: nonce, authenticating: UnsafeRawBufferPointer(start: nil, count: 0)
            )
        }
    }

    /// Whether the frame is authentic; `output`, 16 bytes shorter than `sealed`, has the content then.
    func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, frame: UInt64,
        isLast: Bool
    ) -> Bool {
        let nonce = Self.nonce(frame, isLast)
        return unsafe withUnsafeBytes(of: nonce) {
            let nonce = unsafe UnsafeRawBufferPointer(rebasing: $0[..<AES256GCM.nonceByteCount])
            do {
                unsafe try cipher.open(
                    sealed, into: output, nonce: nonce,
                    authenticating: UnsafeRawBufferPointer(start: nil, count: 0))
                return true
            } catch {
                return false
            }
        }
    }

    private static func nonce(_ frame: UInt64, _ isLast: Bool) -> (UInt64, UInt32) {
        (frame.littleEndian, UInt32(isLast ? 1 : 0).littleEndian)
    }
}
