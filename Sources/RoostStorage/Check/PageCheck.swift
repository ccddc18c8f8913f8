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
        if page.level > 0, page.count == 0 { return "a branch node without children" }
        let limit = page.level == 0 ? Format.maximumKeyLength : Format.maximumKeyLength + 1
        for index in 0..<page.count {
            if let fault = slotFault(index) { return fault }
            guard index >= first else { continue }
            guard page.keyLength(index) <= limit else { return "a key longer than any can be" }
            guard index == first || page.isOrdered(index - 1, index) else { return "keys out of order" }
        }
        return spanFault()
    }

    /// The first key that means something: a branch node's first child takes everything below its second.
    private var first: Int { page.level == 0 ? 0 : 1 }

    private func spanFault() -> String? {
        guard page.count > first else { return nil }
        if let lower {
            let order = page.key(first).withView { key in lower.withView { key.compare($0) } }
            // A branch node's second child starts after its first, which starts where the node does.
            guard page.level == 0 ? order >= 0 : order > 0 else {
                return "keys below the start of the node's span"
            }
        }
        if let upper {
            let order = page.key(page.count - 1).withView { key in upper.withView { key.compare($0) } }
            guard order < 0 else { return "keys at or above the end of the node's span" }
        }
        return nil
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
