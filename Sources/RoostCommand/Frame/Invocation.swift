/// The arguments of one call, checked against what the command declares.
struct Invocation {
    private var positional: [String] = []
    /// The values of each option, in the order given.
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []
    private let parameters: [Parameter]

    var asksForHelp: Bool { flags.contains("--help") }

    init(_ arguments: [String], of command: any Command.Type) throws {
        parameters = command.parameters
        let options = Dictionary(
            uniqueKeysWithValues: (command.options + KeyAccess.options).map { ($0.name, $0) })
        var rest = arguments[...]
        var optionsEnded = false
        while let argument = rest.popFirst() {
            guard !optionsEnded, argument.hasPrefix("-"), argument != "-" else {
                positional.append(argument)
                continue
            }
            if argument == "--" {
                optionsEnded = true
            } else if argument == "--help" || argument == "-h" {
                flags.insert("--help")
            } else {
                try take(argument, options, &rest)
            }
        }
        if !asksForHelp { try checkCount() }
    }

    private mutating func take(
        _ argument: String, _ options: [String: Option], _ rest: inout ArraySlice<String>
    ) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let option = options[parts[0]] else { throw UsageError("There is no option \(parts[0]).") }
        guard option.value != nil else {
            guard parts.count == 1 else { throw UsageError("\(option.name) takes no value.") }
            flags.insert(option.name)
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw UsageError("\(option.name) needs a value.")
        }
        values[option.name, default: []].append(value)
    }

    /// Adds values of options that have none, and flags.
    mutating func complete(_ values: [String: String], _ flags: Set<String>) {
        for (name, value) in values where self.values[name] == nil { self.values[name] = [value] }
        self.flags.formUnion(flags)
    }

    private func checkCount() throws {
        let required = parameters.filter { !$0.isOptional }
        if positional.count < required.count {
            throw UsageError("\(required[positional.count].label) is missing.")
        }
        if positional.count > parameters.count, parameters.last?.repeats != true {
            throw UsageError("\"\(positional[parameters.count])\" is one argument too many.")
        }
    }

    /// The argument at `index`, which is not optional.
    subscript(index: Int) -> String { positional[index] }

    /// The same with the first two arguments, which are not optional, in each other's place.
    func swappingFirstTwo() -> Self {
        var copy = self
        copy.positional.swapAt(0, 1)
        return copy
    }

    /// The same with another first argument.
    func replacingFirst(_ argument: String) -> Self {
        var copy = self
        copy.positional[0] = argument
        return copy
    }

    /// The verb that stands behind the database, or before it, and the invocation with the database first. A database may be
    /// called as a verb is: then the verb comes first.
    func verb<Verb: CaseIterable & RawRepresentable<String>>(
        _: Verb.Type = Verb.self
    ) throws -> (verb: Verb, rest: Self) {
        if let verb = Verb(rawValue: self[0]) { return (verb, swappingFirstTwo()) }
        guard let verb = Verb(rawValue: self[1]) else {
            var names = Verb.allCases.map(\.rawValue)
            let last = names.removeLast()
            throw UsageError(
                "Neither \"\(self[0])\" nor \"\(self[1])\" is one of \(names.joined(separator: ", ")) and \(last)."
            )
        }
        return (verb, self)
    }

    /// The argument at `index`, if it was given.
    func optional(_ index: Int) -> String? { index < positional.count ? positional[index] : nil }

    /// All arguments from `index` on.
    func rest(_ index: Int) -> [String] { Array(positional.dropFirst(index)) }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option; the last one of several.
    func string(_ option: String) -> String? { values[option]?.last }

    /// All values of an option that may be given several times.
    func strings(_ option: String) -> [String] { values[option] ?? [] }

    /// The value of an option that is a whole number of at least `minimum`.
    func number(_ option: String, minimum: Int = 0) throws -> Int? {
        guard let text = string(option) else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw UsageError("\(option) takes a whole number of at least \(minimum), not \"\(text)\".")
        }
        return number
    }

    /// The value of an option that is one of `choices`; the first of them by default.
    func choice(_ option: String, _ choices: [String]) throws -> String {
        guard let text = string(option) else { return choices[0] }
        guard choices.contains(text) else {
            throw UsageError("\(option) takes \(choices.joined(separator: " or ")), not \"\(text)\".")
        }
        return text
    }
}
