/// The texts that `--help` prints, made from what the commands declare.
enum Help {
    static func overview(_ commands: [any Command.Type]) -> String {
        let width = commands.map { $0.name.count }.max() ?? 0
        var lines = [
            "Usage: roost COMMAND DB ...", "", "DB is the directory of a Roost database.", "", "Commands:",
        ]
        for command in commands {
            lines.append("  \(padded(command.name, width))  \(command.summary)")
        }
        lines += [
            "", "`roost COMMAND --help` tells more of each; `roost --version` prints the version.", "",
            "Exit status: 0 done, 1 failed, 2 wrong usage.",
        ]
        return lines.joined(separator: "\n")
    }

    static func text(of command: any Command.Type) -> String {
        let options = command.options + KeyAccess.options + [Option("--help", nil, "print this")]
        let usage = command.parameters.map { $0.isOptional ? "[\($0.label)]" : $0.label }
        var lines = [(["Usage: roost", command.name] + usage + ["[OPTIONS]"]).joined(separator: " "), ""]
        lines += [command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".", ""]
        let named = options.map { option in
            (option.value.map { "\(option.name) \($0)" } ?? option.name, option.help)
        }
        let width = (named.map(\.0.count) + command.parameters.map { $0.label.count }).max() ?? 0
        for parameter in command.parameters {
            lines.append("  \(padded(parameter.label, width))  \(parameter.help)")
        }
        lines += ["", "Options:"]
        for (name, help) in named { lines.append("  \(padded(name, width))  \(help)") }
        if !command.notes.isEmpty { lines += ["", command.notes] }
        return lines.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
