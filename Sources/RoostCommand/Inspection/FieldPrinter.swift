import RoostStorage

/// Prints sections of a file up to a number of lines, as text or as one JSON object each line.
final class FieldPrinter {
    private let limit: Int
    private let asJSON: Bool
    private var printed = 0

    /// - Parameter limit: 0 for no limit.
    init(limit: Int, asJSON: Bool) {
        self.limit = limit
        self.asJSON = asJSON
    }

    var isFull: Bool { limit > 0 && printed >= limit }

    private func line(_ text: @autoclosure () -> String) {
        guard !isFull else { return }
        printed += 1
        Console.print(text())
    }

    func heading(_ title: String, _ range: Range<UInt64>) {
        guard !asJSON else { return }
        if printed > 0 { line("") }
        let length = range.upperBound - range.lowerBound
        line(
            "\(title): \(length) bytes from offset \(range.lowerBound) (0x\(FileField.hexadecimal(range.lowerBound)))"
        )
    }

    func print(_ section: FileSection) {
        heading(section.title, section.range)
        for field in section.fields { line(asJSON ? json(field, in: section) : field.line) }
        for problem in section.problems { line(asJSON ? json(problem, in: section) : "! \(problem)") }
    }

    /// - Returns: whether there is room for more.
    func print(_ part: FileDump.Part) -> Bool {
        let length = part.range.upperBound - part.range.lowerBound
        if asJSON {
            var object = JSONObject()
            object.add("part", part.name)
            object.add("offset", part.range.lowerBound)
            object.add("length", length)
            line(object.text)
        } else {
            line("\(FileField.hexadecimal(part.range.lowerBound, width: 6))  \(part.name), \(length) bytes")
        }
        return !isFull
    }

    private func json(_ field: FileField, in section: FileSection) -> String {
        var object = JSONObject()
        object.add("section", section.title)
        object.add("offset", field.offset)
        object.add("length", field.length)
        object.add("decoded", field.isDecoded)
        object.add("bytes", field.bytes.map { FileField.hexadecimal(UInt64($0), width: 2) }.joined())
        object.add("meaning", field.meaning)
        if let note = field.note { object.add("note", note) }
        return object.text
    }

    private func json(_ problem: String, in section: FileSection) -> String {
        var object = JSONObject()
        object.add("section", section.title)
        object.add("problem", problem)
        return object.text
    }

    /// Says that there may be more, where the limit was reached.
    func finish() {
        guard isFull else { return }
        Console.note("Stopped after \(printed) lines; --limit 0 shows all.")
    }
}
