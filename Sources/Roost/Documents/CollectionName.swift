/// The name of a collection and of the scope it is in, both checked.
///
/// Couchbase Lite's rules: 1 to 251 of the characters A-Z a-z 0-9 _ - %, the first not being _ or %. The
/// one exception is `_default`, the scope and the collection that every database has; a collection of that
/// name exists in no other scope. Upper and lower case are different.
package struct CollectionName: Hashable, Sendable {
    /// The name of the scope and of the collection that always exist.
    package static let defaultName = "_default"

    /// The longest name of a scope, and of a collection, in characters.
    package static let maximumLength = 251

    /// The collection `_default` in the scope `_default`.
    package static let `default` = Self()

    /// The scope: a group of collections.
    package let scope: String

    /// The collection's name, unique within its scope.
    package let name: String

    private init() {
        scope = Self.defaultName
        name = Self.defaultName
    }

    /// Checks the two names. O(length).
    ///
    /// - Throws: `invalidName`, whose message says which rule is broken, where, and what to do.
    package init(_ name: String, scope: String = defaultName) throws(DatabaseError) {
        try Self.check(scope, "scope")
        try Self.check(name, "collection")
        guard name != Self.defaultName || scope == Self.defaultName else {
            throw DatabaseError(
                .invalidName,
                "The collection _default exists only in the scope _default, not in "
                    + "\(DatabaseError.quoted(scope)). Give the collection another name.")
        }
        self.scope = scope
        self.name = name
    }

    private static func check(_ name: String, _ what: String) throws(DatabaseError) {
        if name == defaultName { return }
        let described = "The \(what) name \(DatabaseError.quoted(name))"
        let length = name.utf8.count
        guard let first = name.utf8.first else {
            throw DatabaseError(
                .invalidName, "A \(what) name must not be empty. Leave it out to mean _default.")
        }
        for (index, character) in name.unicodeScalars.enumerated() where !isAllowed(character) {
            throw DatabaseError(
                .invalidName,
                "\(described) has \(String(character).debugDescription) as its character \(index + 1). Use "
                    + "only A-Z a-z 0-9 _ - and %.")
        }
        guard length <= maximumLength else {
            throw DatabaseError(
                .invalidName,
                "\(described) is \(length) characters long, and the longest is \(maximumLength). Shorten it.")
        }
        guard first != UInt8(ascii: "_") && first != UInt8(ascii: "%") else {
            throw DatabaseError(
                .invalidName,
                "\(described) begins with \(first == UInt8(ascii: "_") ? "_" : "%"), which is reserved. "
                    + "Begin it with a letter, a digit or a hyphen.")
        }
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "A"..."Z", "a"..."z", "0"..."9", "_", "-", "%": true
        default: false
        }
    }
}

extension CollectionName: CustomStringConvertible {
    /// The scope and the collection's name with a dot between, as in `travel.hotels`.
    package var description: String { "\(scope).\(name)" }
}
