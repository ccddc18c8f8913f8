/// How a value that is being decoded was reached from the one around it.
enum CodingStep {
    /// It is the root.
    case none
    case key(any CodingKey)
    case index(Int)

    var keys: [any CodingKey] {
        switch self {
        case .none: []
        case .key(let key): [key]
        case .index(let index): [PlainKey(intValue: index)]
        }
    }
}

/// The way to a value that is being encoded, as a list from the value to the root: nothing is copied on the way
/// down, and the array that errors show is built only when one occurs.
indirect enum CodingPath {
    case root
    case key(any CodingKey, of: CodingPath)
    case index(Int, of: CodingPath)

    var keys: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let key, let parent): parent.keys + [key]
        case .index(let index, let parent): parent.keys + [PlainKey(intValue: index)]
        }
    }
}

/// A coding key that is nothing but its string or index.
struct PlainKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = PlainKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
