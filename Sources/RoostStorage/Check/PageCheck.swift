import RoostBytes

/// Verifies one page as a whole: what look-ups rely on without testing it each time.
struct PageCheck {
    let page: PageView
    /// The span of keys that the node's parents leave it; `nil` is open.
    let lower: [UInt8]?
    let upper: [UInt8]?
    /// Tag bits that entries may have beside the reference kind.
    var allowedTags: UInt8 = 0

    /// The first fault, as part of a sentence; `nil` for a page that is as it should be.
    func fault() -> String? {
        if page.level > 0, page.count == 0 { return "an inner node without children" }
        let limit = page.level == 0 ? Format.maximumKeyLength : Format.maximumKeyLength + 1
        let (previous, key) = (ByteBuffer(), ByteBuffer())
        for index in 0..<page.count {
            if let fault = slotFault(index) { return fault }
            guard page.level == 0 || index > 0 else { continue }
            key.reset()
            page.appendKey(index, to: key)
            guard key.count <= limit else { return "a key longer than any can be" }
            if let fault = orderFault(index, key.view, after: previous.view) { return fault }
            previous.reset()
            previous.append(key.view)
        }
        return isBelowUpper(previous.view) ? nil : "keys at or above the end of the node's span"
    }

    private func isBelowUpper(_ last: ByteView) -> Bool {
        guard let upper, page.count > (page.level == 0 ? 0 : 1) else { return true }
        return upper.withView { last.compare($0) < 0 }
    }

    private func orderFault(_ index: Int, _ key: ByteView, after previous: ByteView) -> String? {
        let isFirst = index == (page.level == 0 ? 0 : 1)
        if !isFirst { return previous.compare(key) < 0 ? nil : "keys out of order" }
        guard let lower else { return nil }
        let order = lower.withView { key.compare($0) }
        // An inner node's second child starts after its first, which starts where the node does.
        let isInside = page.level == 0 ? order >= 0 : order > 0
        return isInside ? nil : "keys below the start of the node's span"
    }

    /// What is wrong with the slot and the cell at `index`, by themselves.
    private func slotFault(_ index: Int) -> String? {
        let length = page.suffixLength(index)
        if length < 4, page.head(index) << (8 * UInt32(length)) != 0 {
            return "a key's head with bytes after its end"
        }
        if page.level > 0, index == 0, length > 0 { return "a first child with a key" }
        guard page.rest(index).count == max(length - 4, 0) else {
            return "a key that reaches beyond its node"
        }
        do {
            if page.level > 0 { return try childFault(index) }
            let (entry, tag) = try page.taggedEntry(index)
            if tag & ~(3 | allowedTags) != 0 { return "an entry with unknown marks" }
            if entry.inline.count > Format.maximumInlineLength { return "an entry larger than any can be" }
            return nil
        } catch {
            return "a malformed entry"
        }
    }

    private func childFault(_ index: Int) throws(MalformedBytes) -> String? {
        let child = try page.child(index)
        return child.reduction.count > Format.maximumReductionLength
            ? "a reduction longer than any can be" : nil
    }
}
