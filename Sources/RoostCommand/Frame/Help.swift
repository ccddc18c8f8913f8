/// The texts that `--help` prints, made from what the commands declare.
enum Help {
    static func overview(_ commands: [any Command.Type]) -> String {
        """
        Usage: roost COMMAND DB ...

        DB is the directory of a Roost database.

        Commands:
        \(lines(commands.map { ($0.name, $0.summary) }))

        `roost COMMAND --help` tells more of each; `roost --version` prints the version.

        Exit status: 0 done, 1 failed, 2 wrong usage.
        """
    }

    /// All about a command.
    ///
    /// - Parameter inShell: whether it is called from the shell, which knows the database and its key.
    static func text(of command: any Command.Type, inShell: Bool = false) -> String {
        let parameters =
            inShell && command.takesDatabase ? Array(command.parameters.dropFirst()) : command.parameters
        let options =
            command.options + (inShell ? [] : KeyAccess.options + [Option("--help", nil, "print this")])
        let name = inShell ? command.name : "roost \(command.name)"
        let usage =
            parameters.map { $0.isOptional ? "[\($0.label)]" : $0.label }
            + (options.isEmpty ? [] : ["[OPTIONS]"])
        var parts = [
            "Usage: " + ([name] + usage).joined(separator: " "),
            command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".",
        ]
        let positional = parameters.map { ($0.label, $0.help) }
        let named = options.map { option in
            ([option.name, option.value].compactMap { $0 }.joined(separator: " "), option.help)
        }
        let width = (positional + named).map(\.0.count).max() ?? 0
        if !positional.isEmpty { parts.append(lines(positional, width)) }
        if !named.isEmpty { parts.append("Options:\n" + lines(named, width)) }
        if !command.notes.isEmpty { parts.append(command.notes) }
        return parts.joined(separator: "\n\n")
    }

    /// Names and what they mean, a line each, beside each other.
    static func lines(_ entries: [(name: String, meaning: String)], _ width: Int? = nil) -> String {
        let width = width ?? entries.map(\.name.count).max() ?? 0
        return entries.map { name, meaning in
            "  \(name)\(String(repeating: " ", count: max(0, width - name.count)))  \(meaning)"
        }.joined(separator: "\n")
    }
}
