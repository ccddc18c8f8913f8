/// Lines from a terminal that understands no escape sequences, which lets users edit them in its own way.
final class PlainTerminal: LineInput {
    private let terminal = RawTerminal()
    private let history: LineHistory

    let isInteractive = true

    init(_ history: LineHistory) { self.history = history }

    func next(_ prompt: String, after typed: String) throws -> InputLine {
        try Console.flush()
        return try terminal.set(.lines) {
            terminal.write(prompt)
            var bytes: [UInt8] = []
            while let byte = terminal.byte() {
                switch byte {
                case 10: return .line(String(decoding: bytes, as: UTF8.self))
                case RawTerminal.controlC:
                    terminal.write("\n")
                    return .interrupted
                default: bytes.append(byte)
                }
            }
            terminal.write("\n")
            return bytes.isEmpty ? .end : .line(String(decoding: bytes, as: UTF8.self))
        }
    }

    func remember(_ statement: String) { history.add(statement) }
}
