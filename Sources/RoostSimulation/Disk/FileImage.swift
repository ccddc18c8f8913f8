/// The contents of a file: a size, and pages that exist only where something was written.
///
/// Copies share their pages until one of them writes there, so that a disk can be copied for every crash that
/// is to be tried, and a file may have any length with nothing in between. Every operation is linear in the
/// pages it touches.
struct FileImage: Sendable {
    static let pageSize = 4096

    private var pages: [UInt64: [UInt8]] = [:]
    /// Bytes may be stored beyond it, where they are not seen until it grows.
    private(set) var size: UInt64 = 0

    /// The pages in use: what the file takes of the disk.
    var pageCount: Int { pages.count }

    /// Pages that storing `count` bytes at `offset` would add.
    func missingPages(at offset: UInt64, count: Int) -> Int {
        Self.pageNumbers(at: offset, count: count).reduce(0) { $0 + (pages[$1] == nil ? 1 : 0) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset < size else { return 0 }
        let count = Int(min(UInt64(buffer.count), size - offset))
        for part in PageParts(offset: offset, count: count) {
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[part.source])
            if let page = pages[part.page] {
                unsafe page.withUnsafeBytes {
                    unsafe target.copyMemory(from: .init(rebasing: $0[part.inPage]))
                }
            } else {
                unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
        return count
    }

    /// Puts `bytes` at `offset` without a change of the size.
    mutating func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        for part in PageParts(offset: offset, count: bytes.count) {
            let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[part.source])
            if source.count == Self.pageSize {
                pages[part.page] = unsafe [UInt8](source)
            } else {
                unsafe update(part) { unsafe $0.copyMemory(from: source) }
            }
        }
    }

    /// Puts those of `bytes` at `offset` whose index `isChosen` holds for.
    mutating func store(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, where isChosen: (Int) -> Bool
    ) {
        for part in PageParts(offset: offset, count: bytes.count) {
            unsafe update(part) { target in
                for (place, index) in part.source.enumerated() where isChosen(index) {
                    unsafe target[place] = bytes[index]
                }
            }
        }
    }

    private mutating func update(_ part: PageParts.Part, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        unsafe pages[part.page, default: [UInt8](repeating: 0, count: Self.pageSize)].withUnsafeMutableBytes {
            unsafe body(UnsafeMutableRawBufferPointer(rebasing: $0[part.inPage]))
        }
    }

    mutating func extend(to size: UInt64) {
        self.size = max(self.size, size)
    }

    /// Sets the size; whatever lies beyond it is zero from then on.
    mutating func truncate(to size: UInt64) {
        self.size = size
        let boundary = size / UInt64(Self.pageSize)
        let kept = Int(size % UInt64(Self.pageSize))
        if kept > 0 {
            unsafe pages[boundary]?.withUnsafeMutableBytes { page in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: page[kept...])
                _ = unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
        let firstDropped = kept > 0 ? boundary + 1 : boundary
        let dropped = pages.keys.filter { $0 >= firstDropped }
        for page in dropped { pages[page] = nil }
    }

    /// Takes over the pages in which `count` bytes at `offset` lie, as `other` has them.
    mutating func adoptPages(at offset: UInt64, count: Int, from other: FileImage) {
        for page in Self.pageNumbers(at: offset, count: count) { pages[page] = other.pages[page] }
    }

    private static func pageNumbers(at offset: UInt64, count: Int) -> Range<UInt64> {
        let end = offset + UInt64(count)
        let first = offset / UInt64(pageSize)
        return count == 0 ? first..<first : first..<(end - 1) / UInt64(pageSize) + 1
    }
}
