extension FleeceDocument {
    /// The body byte by byte, for people: one line for every value that the root leads to, in the order of the
    /// bytes, with its offset, its first bytes and its meaning.
    ///
    /// ```
    /// 0000: 43 66 6f 6f : "foo"
    /// 0004: 70 01       : dictionary of 1:
    /// 0006: 80 03       :   → 0000 "foo"
    /// 0008: 00 7b       :     123
    /// 000a: 80 03       : → 0004 dictionary of 1
    /// ```
    public func dump() -> String {
        read { view in
            var dump = BodyDump(of: self)
            return dump.lines(view)
        }
    }
}

/// Finds the values of a body and describes them.
private struct BodyDump {
    private let document: FleeceDocument
    private var found: Set<Int> = []

    init(of document: FleeceDocument) { self.document = document }

    mutating func lines(_ view: RawSpan) -> String {
        guard view.byteCount >= 2 else { return "" }
        let last = view.byteCount & ~1 - 2
        find(view, itemAt: last, isWide: false, before: last)
        var text = ""
        for offset in found.sorted() { describe(view, valueAt: offset, in: &text) }
        describe(view, itemAt: last, isWide: false, before: last, indentation: 0, in: &text)
        return text
    }

    /// Collects what an item points to, with a list instead of recursion: damaged bytes may nest at will.
    private mutating func find(_ view: RawSpan, itemAt place: Int, isWide: Bool, before start: Int) {
        var open = [(place, isWide, start)]
        while let (place, isWide, start) = open.popLast() {
            guard view.header(at: place).isPointer else { continue }
            let target = view.resolve(itemAt: place, isWide: isWide, before: start)
            guard target >= 0, found.insert(target).inserted, let layout = view.collection(at: target) else {
                continue
            }
            for item in items(of: layout) { open.append((item, layout.isWide, layout.start)) }
        }
    }

    private func items(of layout: CollectionLayout) -> StrideTo<Int> {
        stride(from: layout.first, to: layout.end, by: layout.isWide ? 4 : 2)
    }

    private func describe(_ view: RawSpan, valueAt offset: Int, in text: inout String) {
        guard let layout = view.collection(at: offset) else {
            line(view, offset, size(view, ofScalarAt: offset), meaning(of: offset), in: &text)
            return
        }
        line(view, offset, layout.first - offset, meaning(of: offset) + ":", in: &text)
        for (index, place) in items(of: layout).enumerated() {
            let isValue = view.header(at: offset).tag == .dictionary && index % 2 == 1
            describe(
                view, itemAt: place, isWide: layout.isWide, before: layout.start,
                indentation: isValue ? 2 : 1,
                in: &text)
        }
    }

    private func describe(
        _ view: RawSpan, itemAt place: Int, isWide: Bool, before start: Int, indentation: Int,
        in text: inout String
    ) {
        var meaning = String(repeating: "  ", count: indentation)
        let target = view.resolve(itemAt: place, isWide: isWide, before: start)
        if target != place { meaning += "→ \(hexadecimal(target, digits: 4)) " }
        line(view, place, isWide ? 4 : 2, meaning + self.meaning(of: target), in: &text)
    }

    private func meaning(of offset: Int) -> String {
        let value = FleeceValue(document, offset)
        switch value.kind {
        case .array: return "array of \(value.array?.count ?? 0)"
        case .dictionary: return "dictionary of \(value.dictionary?.count ?? 0)"
        case .data: return "data of \(value.data?.count ?? 0) bytes"
        default: return value.description
        }
    }

    private func size(_ view: RawSpan, ofScalarAt offset: Int) -> Int {
        let header = view.header(at: offset)
        return switch header.tag {
        case .integer: 2 + Int(header.bits >> 8 & 0x07)
        case .float: header.bits & 0x0800 == 0 ? 6 : 10
        case .string, .data: (view.content(at: offset)?.upperBound ?? offset + 2) - offset
        default: 2
        }
    }

    private func line(_ view: RawSpan, _ offset: Int, _ size: Int, _ meaning: String, in text: inout String) {
        let bytes = (0..<min(size, 4)).map { hexadecimal(Int(view.byte(at: offset + $0)), digits: 2) }
        var columns = bytes.joined(separator: " ")
        columns += String(repeating: " ", count: 11 - columns.utf8.count) + (size > 4 ? "…" : " ")
        text += "\(hexadecimal(offset, digits: 4)): \(columns): \(meaning)\n"
    }

    private func hexadecimal(_ number: Int, digits: Int) -> String {
        let text = String(max(number, 0), radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
