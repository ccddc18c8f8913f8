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
        page = PageView(pending: .empty, count: 0)
        clear()
    }

    func clear() {
        bytes.reset()
        bytes.append(zeros: PageView.headerLength)
        page = PageView(pending: bytes.view, count: 0)
    }

    var count: Int { page.count }

    /// Copies a stored leaf.
    func load(_ stored: PageView) {
        bytes.reset()
        bytes.append(stored.bytes)
        page = PageView(bytes.view) ?? page
    }

    /// Merges a leaf with pending changes; `base` is the page of its stored leaf.
    func load(_ leaf: LeafNode, base: PageView?) throws(MalformedBytes) {
        let builder = self.builder ?? LeafBuilder()
        self.builder = builder
        builder.reset()
        try builder.merge(base, leaf.delta.view)
        bytes.reset()
        bytes.append(builder.build(0..<builder.count).page)
        page = PageView(bytes.view) ?? page
    }
}

extension LeafBuilder {
    /// Adds the entries of `base` as changed by `pending`, in key order.
    func merge(_ base: PageView?, _ pending: PageView) throws(MalformedBytes) {
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
        for index in range { add(page, index, try page.entry(index)) }
    }
}
