/// Where the shell's lines come from.
protocol LineInput: AnyObject {
    /// Whether somebody sits there, who is prompted and told of things.
    var isInteractive: Bool { get }

    /// The next line, which goes on what was `typed` of a statement before.
    func next(_ prompt: String, after typed: String) throws -> InputLine

    /// Keeps a statement, which may be of several lines, so that it can be recalled.
    func remember(_ statement: String)
}

enum InputLine: Equatable {
    /// A line without its end; several where they were pasted or recalled together.
    case line(String)
    /// Ctrl-C.
    case interrupted
    /// The end of the input, or Ctrl-D.
    case end
}
