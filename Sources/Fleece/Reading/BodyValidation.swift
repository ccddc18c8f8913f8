/// Checks a body from an untrusted source, completely and in time and memory proportional to its bytes.
///
/// Pointers lead to values that end before the pointer, and to collections that end before the pointer's own, as
/// any writer leaves them that writes a collection when its content is written. A collection that several
/// pointers lead to is looked at once; what it unfolds to is added up, and a body that unfolds to more than
/// ``maximumUnfolding`` times its size is refused, so that no later walk through it takes forever.
struct BodyValidation {
    /// What is known of a collection that was found to be well-formed.
    private struct Finding {
        var end: Int
        /// How many levels of collections it has, itself included.
        var height: Int
        /// The bytes of all values in it, shared ones counted as often as they are pointed at.
        var unfolded: Int
    }

    /// Ours and the reference encoder share strings of up to 15 bytes through pointers of two, a factor of 8.
    private static let maximumUnfolding = 256

    private let sharedKeys: SharedKeys?
    private var findings: [Int: Finding] = [:]

    init(sharedKeys: SharedKeys?) { self.sharedKeys = sharedKeys }

    /// Refuses the body `view` unless everything that can be reached from its root is well-formed.
    mutating func validate(_ view: RawSpan) throws(FleeceError) {
        guard view.byteCount >= 2, view.byteCount & 1 == 0 else {
            throw failure("A body is an even number of bytes and at least two, not \(view.byteCount).", at: 0)
        }
        guard view.byteCount <= FleeceLimits.maximumSize else {
            throw FleeceError(.tooLarge, "A body of \(view.byteCount) bytes exceeds what there can be.")
        }
        let last = view.byteCount - 2
        guard view.header(at: last).isPointer || view.byteCount == 2 else {
            throw failure("A body of more than two bytes must end with a pointer to its root.", at: last)
        }
        let root = try validate(view, itemAt: last, width: 2, start: last, depth: 0)
        if root.unfolded > view.byteCount * Self.maximumUnfolding {
            throw FleeceError(
                .tooLarge, "The body unfolds to more than \(Self.maximumUnfolding) times its size.")
        }
    }

    private func failure(_ message: String, at offset: Int) -> FleeceError {
        FleeceError(.malformedBody, message, offset: offset)
    }

    /// Validates an item of the collection that begins at `start`, or the two bytes at the end of the body.
    private mutating func validate(
        _ view: RawSpan, itemAt place: Int, width: Int, start: Int, depth: Int
    ) throws(FleeceError) -> Finding {
        let header = view.header(at: place)
        guard header.isPointer else {
            guard !header.isCollection || header.bits & UInt16(Header.longCount) == 0 else {
                throw failure("A collection that is not empty stands within another.", at: place)
            }
            return try validate(view, valueAt: place, limit: place + width, depth: depth)
        }
        var pointer = place
        var target = view.target(ofPointerAt: place, isWide: width == 4)
        if target >= 0, width == 2, view.header(at: target).isPointer {
            guard target + 4 <= place else { throw failure("A wide pointer is cut off.", at: target) }
            pointer = target
            target = view.target(ofPointerAt: target, isWide: true)
        }
        guard target >= 0 else { throw failure("A pointer leads out of the body.", at: pointer) }
        let limit = view.header(at: target).isCollection ? min(pointer, start) : pointer
        return try validate(view, valueAt: target, limit: limit, depth: depth)
    }

    /// Validates the value at `offset`, which must end at `limit` or before.
    private mutating func validate(
        _ view: RawSpan, valueAt offset: Int, limit: Int, depth: Int
    ) throws(FleeceError) -> Finding {
        if let known = findings[offset] {
            guard known.end <= limit else {
                throw failure("A pointer leads into its own collection.", at: offset)
            }
            guard depth + known.height <= FleeceLimits.maximumDepth else { throw tooDeep(offset) }
            return known
        }
        let header = view.header(at: offset)
        let end: Int
        switch header.tag {
        case .smallInteger, .special:
            end = offset + 2
        case .integer:
            end = offset + 2 + Int(header.bits >> 8 & 0x07)
        case .float:
            end = offset + (header.bits & 0x0800 == 0 ? 6 : 10)
            guard end > limit || view.double(at: offset).isFinite else {
                throw FleeceError(.unrepresentableNumber, "A number is not finite.", offset: offset)
            }
        case .string, .data:
            guard let content = view.content(at: offset) else { throw cutOff(offset) }
            end = content.upperBound
            if header.tag == .string, end <= limit { try validate(view, text: content) }
        case .array, .dictionary:
            guard let layout = view.collection(at: offset), layout.end <= limit else { throw cutOff(offset) }
            let finding = try validate(
                view, layout, isDictionary: header.tag == .dictionary, at: offset, depth: depth + 1)
            if layout.count > 0 { findings[offset] = finding }
            return finding
        case nil:
            throw failure("A pointer leads to a pointer.", at: offset)
        }
        guard end <= limit else { throw cutOff(offset) }
        return Finding(end: end, height: 0, unfolded: end - offset)
    }

    private func cutOff(_ offset: Int) -> FleeceError {
        failure("A value does not end where it has to.", at: offset)
    }

    private func tooDeep(_ offset: Int) -> FleeceError {
        FleeceError(
            .tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.", offset: offset)
    }

    private func validate(_ view: RawSpan, text: Range<Int>) throws(FleeceError) {
        if let fault = unsafe UTF8Text.firstIllFormed(in: view.buffer(text)) {
            throw FleeceError(
                .illFormedText, "A string is not well-formed UTF-8.", offset: text.lowerBound + fault)
        }
    }

    private mutating func validate(
        _ view: RawSpan, _ layout: CollectionLayout, isDictionary: Bool, at offset: Int, depth: Int
    ) throws(FleeceError) -> Finding {
        guard depth <= FleeceLimits.maximumDepth else { throw tooDeep(offset) }
        let width = layout.isWide ? 4 : 2
        var finding = Finding(end: layout.end, height: 1, unfolded: layout.end - offset)
        var previousKey: StoredKey?
        for place in stride(from: layout.first, to: layout.end, by: width) {
            let item = try validate(view, itemAt: place, width: width, start: offset, depth: depth)
            finding.height = max(finding.height, item.height + 1)
            finding.unfolded = min(finding.unfolded + item.unfolded, FleeceLimits.maximumSize * 1024)
            if isDictionary, (place - layout.first) % layout.stride == 0 {
                let key = try validatedKey(view, at: place, in: layout)
                if let previousKey, !precedes(view, previousKey, key) {
                    throw failure("The keys of a dictionary are not in ascending order.", at: place)
                }
                previousKey = key
            }
        }
        return finding
    }

    private func validatedKey(
        _ view: RawSpan, at place: Int, in layout: CollectionLayout
    ) throws(FleeceError) -> StoredKey {
        guard let key = view.key(ofPair: (place - layout.first) / layout.stride, in: layout) else {
            throw failure("A dictionary key is neither a string nor a small integer.", at: place)
        }
        if case .number(let number) = key {
            if number == Header.inheritanceKey.smallInteger {
                throw FleeceError(
                    .unsupported, "Dictionaries that inherit from others are not read.", offset: place)
            }
            guard number >= 0, number < sharedKeys?.count ?? 0 else {
                throw FleeceError(
                    .unknownSharedKey, "The key number \(number) is not among the shared keys.", offset: place
                )
            }
        }
        return key
    }

    private func precedes(_ view: RawSpan, _ left: StoredKey, _ right: StoredKey) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left < right
        case (.number, .text): true
        case (.text, .number): false
        case (.text(let left), .text(let right)):
            unsafe ByteOrder.compare(view.buffer(left), view.buffer(right)) < 0
        }
    }
}

// MARK: - BodyDump

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
