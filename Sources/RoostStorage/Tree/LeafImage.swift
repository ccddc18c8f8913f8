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
        page = .empty
    }

    func clear() { page = .empty }

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
        unsafe try LeafBuilder.merge(base ?? .empty, leaf.delta.view, using: keptBuilder()) {
            unsafe bytes.emptied(toHold: $0)
        }
        page = PageView(bytes.view) ?? page
    }

    private func keptBuilder() -> LeafBuilder {
        let builder = self.builder ?? LeafBuilder()
        self.builder = builder
        return builder
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

    /// Adds the changes in `newer`, and those in `older`, if there are any, that it does not replace, in key order. Deletions
    /// are added as entries without anything.
    ///
    /// - Returns: which of them are deletions.
    func unite(_ older: PageView?, _ newer: PageView) throws(MalformedBytes) -> [Bool] {
        var deletions: [Bool] = []
        var next = 0
        func add(_ page: PageView, _ index: Int) throws(MalformedBytes) {
            let (entry, tag) = try page.taggedEntry(index)
            deletions.append(tag & DeltaPage.tombstone != 0)
            self.add(page, index, entry)
        }
        func addOlder(below end: Int) throws(MalformedBytes) {
            guard let older else { return }
            while next < end {
                try add(older, next)
                next += 1
            }
        }
        let key = ByteBuffer()
        for index in 0..<newer.count {
            if let older {
                key.reset()
                newer.appendKey(index, to: key)
                let (position, found) = older.search(key.view)
                try addOlder(below: position)
                if found { next = max(next, position + 1) }
            }
            try add(newer, index)
        }
        try addOlder(below: older?.count ?? 0)
        return deletions
    }

    private func add(_ page: PageView, _ range: Range<Int>) throws(MalformedBytes) {
        for index in range { try add(page, index) }
    }
}
