/// Small JSON objects for `--json`, keys in the order given.
struct JSONObject {
    private var members: [String] = []

    init() {}

    /// `"text"`, escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where ControlCharacters.contains(scalar): result += ControlCharacters.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// An array of what is JSON already.
    static func array(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

    mutating func add(_ key: String, _ text: String) { add(key, raw: JSONObject.quoted(text)) }
    mutating func add(_ key: String, _ number: some BinaryInteger) { add(key, raw: "\(number)") }
    mutating func add(_ key: String, _ number: Double) { add(key, raw: "\(number)") }
    mutating func add(_ key: String, _ flag: Bool) { add(key, raw: flag ? "true" : "false") }

    /// Adds a member whose value is JSON already.
    mutating func add(_ key: String, raw json: String) { members.append("\(JSONObject.quoted(key)):\(json)") }

    var text: String { "{\(members.joined(separator: ","))}" }
}
