import Foundation

/// Where lines are shown, at once, also where the output is no terminal.
enum Screen {
    /// Shows a line. What others wrote must not steer the terminal, turn the direction of lines, or look like more lines than one.
    static func show(_ line: String) {
        var harmless = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            let turns = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            harmless.append(scalar.properties.generalCategory == .control || turns ? "\u{FFFD}" : scalar)
        }
        FileHandle.standardOutput.write(Data((String(harmless) + "\n").utf8))
    }
}
