import RoostBytes

/// A leaf as it is at one moment, pending changes merged in, in memory of its own.
///
/// Cursors and ranks work on images: copying a leaf costs about a nanosecond per entry, and afterwards nothing in
/// the cache or the tree has to be held.
final class LeafImage {
    private let bytes = ByteBuffer(capacity: 8192)
    private var builder: LeafBuilder?
    private(set) var page: PageView

    init() {
        page = PageView(pending: .empty, slots: .empty)
    }

    func clear() { page = PageView(pending: .empty, slots: .empty) }

    var count: Int { page.count }

    /// Copies a stored leaf.
    func load(_ stored: PageView) {
        bytes.reset()
        bytes.append(stored.bytes)
        page = PageView(bytes.view) ?? page
    }

    /// Merges a leaf with pending changes; `base` is the page of its stored leaf.
    ///
    /// The editor writes a leaf before the two together are more than a page holds, so one that is, is damaged.
    func load(_ leaf: LeafNode, base: PageView?) throws(MalformedBytes) {
        let builder = self.builder ?? LeafBuilder()
        self.builder = builder
        builder.reset()
        try builder.merge(base, leaf.delta.view)
        guard builder.fitsPage else { throw MalformedBytes(at: 0) }
        bytes.reset()
        bytes.append(builder.build(0..<builder.count).page)
        page = PageView(bytes.view) ?? page
    }
}

extension LeafBuilder {
    /// Adds the entries of `base` as changed by `pending`, in key order.
    ///
    /// - Throws: ``MalformedBytes`` where `base` has keys out of order or is wrong in another way: a page built of such
    ///   would mix up their bytes.
    func merge(_ base: PageView?, _ pending: PageView) throws(MalformedBytes) {
        if let base {
            let isSound = base.level == 0 && PageCheck(page: base, lower: nil, upper: nil).fault() == nil
            guard isSound else { throw MalformedBytes(at: 0) }
        }
        var next = 0
        let key = ByteBuffer()
        for index in 0..<pending.count {
            let (entry, tag) = try pending.taggedEntry(index)
            if let base {
                key.reset()
                pending.appendKey(index, to: key)
                let (position, found) = base.search(key.view)
                try add(base, next..<max(next, position))
                next = found ? position + 1 : max(next, position)
            }
            if tag & DeltaPage.tombstone == 0 { add(pending, index, entry) }
        }
        if let base { try add(base, next..<max(next, base.count)) }
    }

    private func add(_ page: PageView, _ range: Range<Int>) throws(MalformedBytes) {
        for index in range { try add(page, index) }
    }
}
