import RoostBytes

/// Walks over a text and collects its words.
struct WordWalk {
    private let text: ByteView
    private let folding: WordFolding
    private let stopWords: Set<[UInt8]>

    init(_ text: ByteView, _ folding: WordFolding, _ stopWords: Set<[UInt8]>) {
        self.text = text
        self.folding = folding
        self.stopWords = stopWords
    }

    /// What a byte is to a word of ASCII.
    private enum Byte {
        static let none: UInt8 = 0
        static let letter: UInt8 = 1
        static let digit: UInt8 = 2
        static let underscore: UInt8 = 3
        static let colon: UInt8 = 4  // between letters
        static let comma: UInt8 = 5  // between digits
        static let point: UInt8 = 6  // between either
        static let other: UInt8 = 7  // of no ASCII

        /// By byte.
        static let classes: [UInt8] = (0..<256).map { number in
            let byte = UInt8(number)
            return switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): letter
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit
            case UInt8(ascii: "_"): underscore
            case UInt8(ascii: ":"): colon
            case UInt8(ascii: ","), UInt8(ascii: ";"): comma
            case UInt8(ascii: "."), UInt8(ascii: "'"): point
            case 0x80...: other
            default: none
            }
        }
    }

    mutating func run(_ words: inout WordList) {
        let classes = Byte.classes
        var offset = 0
        while offset < text.count {
            switch classes[Int(text[offset])] {
            case Byte.letter, Byte.digit, Byte.underscore:
                offset = asciiWord(from: offset, classes, &words) ?? segment(from: offset, &words)
            case Byte.other: offset = segment(from: offset, &words)
            default: offset += 1
            }
        }
    }

    /// Adds the word of ASCII that begins at `start` and answers where it ends; `nil` when it meets other characters.
    @inline(__always) private func asciiWord(
        from start: Int, _ classes: [UInt8], _ words: inout WordList
    ) -> Int? {
        let place = words.bytes.count
        var offset = start
        var last = Byte.none
        var hasWord = false
        scan: while offset < text.count {
            let byte = text[offset]
            let type = classes[Int(byte)]
            switch type {
            case Byte.letter:
                if folding.isTurkic, byte == UInt8(ascii: "I") { return giveUp(place, &words) }
                words.bytes.append(byte | 0x20)
                hasWord = true
            case Byte.digit:
                words.bytes.append(byte)
                hasWord = true
            case Byte.underscore: words.bytes.append(byte)
            case Byte.other: return giveUp(place, &words)
            case Byte.none: break scan
            default:
                let next = offset + 1 < text.count ? classes[Int(text[offset + 1])] : Byte.none
                if next == Byte.other { return giveUp(place, &words) }
                guard next == last, joins(type, last) else { break scan }
                words.bytes.append(byte)
            }
            last = type
            offset += 1
        }
        if hasWord {
            WordFolding.removePossessive(&words.bytes, from: place)
            finish(place, start..<offset, .word, &words)
        } else {
            words.bytes.removeLast(words.bytes.count - place)
        }
        return offset
    }

    /// Whether a sign may stand between two letters or two digits.
    @inline(__always) private func joins(_ sign: UInt8, _ neighbour: UInt8) -> Bool {
        switch sign {
        case Byte.colon: neighbour == Byte.letter
        case Byte.comma: neighbour == Byte.digit
        default: neighbour == Byte.letter || neighbour == Byte.digit
        }
    }

    private func giveUp(_ place: Int, _ words: inout WordList) -> Int? {
        words.bytes.removeLast(words.bytes.count - place)
        return nil
    }

    private func finish(
        _ place: Int, _ source: Range<Int>, _ kind: WordList.Word.Kind, _ words: inout WordList
    ) {
        if !stopWords.isEmpty, stopWords.contains(Array(words.bytes[place...])) { return words.skip(place) }
        words.finish(place, source, kind)
    }

    // MARK: Any characters

    private func segment(from start: Int, _ words: inout WordList) -> Int {
        let boundaries = WordBoundaries(scanner: UTF8Scanner(bytes: text))
        let segment = boundaries.segment(from: start)
        if segment.first.isUnspaced { return pairs(from: start, segment.end, boundaries, &words) }
        guard segment.isWord else { return segment.end }
        let place = words.bytes.count
        folding.append(text.slice(start, segment.end - start), to: &words.bytes)
        finish(place, start..<segment.end, .word, &words)
        return segment.end
    }

    /// Adds the pairs of a run of letters without spaces.
    private func pairs(
        from start: Int, _ firstEnd: Int, _ boundaries: WordBoundaries, _ words: inout WordList
    ) -> Int {
        var end = firstEnd
        while end < text.count {
            let next = boundaries.segment(from: end)
            guard next.first.isUnspaced else { break }
            end = next.end
        }
        var first = cluster(from: start, end, boundaries)
        while true {
            let second = first.upperBound < end ? cluster(from: first.upperBound, end, boundaries) : nil
            let source = first.lowerBound..<(second?.upperBound ?? first.upperBound)
            let place = words.bytes.count
            folding.append(text.slice(source.lowerBound, source.count), to: &words.bytes)
            words.finish(place, source, second == nil ? .last : .pair)
            guard let second else { return end }
            first = second
        }
    }

    /// A letter with the marks that belong to it.
    private func cluster(from start: Int, _ end: Int, _ boundaries: WordBoundaries) -> Range<Int> {
        var offset = boundaries.scanner.scalar(at: start).end
        while offset < end {
            let (scalar, next) = boundaries.scanner.scalar(at: offset)
            guard boundaries.table.characterClass(scalar).wordBreak.isIgnored else { break }
            offset = next
        }
        return start..<offset
    }
}
