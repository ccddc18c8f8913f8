/// `roost completions SHELL`: what a shell is to know, made from what the commands declare.
enum CompletionsCommand: Command {
    static let name = "completions"
    static let summary = "prints the completions of commands and options for a shell"
    static let parameters = [Parameter(label: "bash|zsh|fish", help: "the shell")]
    static let options: [Option] = []
    static let notes = """
        For bash, put them into /usr/share/bash-completion/completions/roost, or into ~/.local/share/bash-completion/completions/roost. For zsh,
        into a file _roost in a directory of $fpath; for fish, into ~/.config/fish/completions/roost.fish.
        """

    private enum Shell: String, CaseIterable { case bash, zsh, fish }

    static func run(_ invocation: Invocation) throws {
        guard let shell = Shell(rawValue: invocation[0]) else {
            throw UsageError("There are completions for bash, zsh and fish.")
        }
        switch shell {
        case .bash: Console.print(bash)
        case .zsh: Console.print(zsh)
        case .fish: Console.print(fish)
        }
    }

    private static func options(of command: any Command.Type) -> [Option] {
        command.options + KeyAccess.options + [Option("--help", nil, "print this")]
    }

    /// The options of all commands whose values are paths of files.
    private static var files: [String] {
        let all = RoostTool.commands.flatMap { options(of: $0) }
        return Set(all.filter { ["FILE", "DIR"].contains($0.value) }.map(\.name)).sorted()
    }

    private static var bash: String {
        let cases = RoostTool.commands.map { command in
            "        \(command.name)) options=\"\(options(of: command).map(\.name).joined(separator: " "))\" ;;"
        }
        return """
            # Completions of roost for bash.
            _roost() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=
                if [ "$COMP_CWORD" = 1 ]; then
                    COMPREPLY=($(compgen -W "\((RoostTool.commands.map { $0.name } + ["help", "--version"]).joined(separator: " "))" -- "$word"))
                    return
                fi
                case $before in
                    \(files.joined(separator: "|"))) COMPREPLY=($(compgen -f -- "$word")); return ;;
                esac
                case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                esac
                case $word in
                    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
                    *) COMPREPLY=($(compgen -f -- "$word")) ;;
                esac
            }
            complete -o filenames -F _roost roost
            """
    }

    private static var zsh: String {
        let commands = RoostTool.commands.map { "        '\($0.name):\(quoted($0.summary))'" }
        let cases = RoostTool.commands.map { command in
            let arguments = options(of: command).map { option in
                let value = option.value.map { value in
                    ":\(value):" + (["FILE", "DIR"].contains(value) ? "_files" : " ")
                }
                return "'\(option.name)[\(quoted(option.help))]\(value ?? "")'"
            }
            return
                "        \(command.name)) _arguments \(arguments.joined(separator: " ")) '*:file:_files' ;;"
        }
        return """
            #compdef roost
            _roost() {
                local -a commands
                commands=(
            \(commands.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
            \(cases.joined(separator: "\n"))
                esac
            }
            _roost "$@"
            """
    }

    /// A text within single quotes and brackets of zsh.
    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in text {
            switch character {
            case "'": quoted += "'\\''"
            case "[", "]", ":", "\\": quoted += "\\\(character)"
            default: quoted.append(character)
            }
        }
        return quoted
    }

    private static var fish: String {
        var lines = ["# Completions of roost for fish."]
        for command in RoostTool.commands {
            lines.append(
                "complete -c roost -f -n __fish_use_subcommand -a \(command.name) -d '\(escaped(command.summary))'"
            )
            for option in options(of: command) {
                let value = option.value.map { ["FILE", "DIR"].contains($0) ? " -r -F" : " -x" } ?? ""
                lines.append(
                    "complete -c roost -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name.drop { $0 == "-" })\(value) "
                        + "-d '\(escaped(option.help))'")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A text within single quotes of fish.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}
