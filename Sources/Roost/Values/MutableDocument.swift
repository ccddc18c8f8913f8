import Fleece

/// A document that is being made or changed: a value, independent of the database until it is saved.
///
/// ```swift
/// var draft = MutableDocument(["title": "Swifts nest in gables", "tags": ["birds"]])
/// draft["address"]["city"].string = "Bern"
/// try notes.save(&draft)
/// ```
public struct MutableDocument: Sendable {
    /// The document that the draft is of, and the revision that was copied or saved last.
    public var origin: DraftOrigin
    /// The document's ID; `nil` until it is saved for the first time, if none was given. It can't be changed.
    public var id: String? { origin.id }
    /// The revision that was copied or saved last, which a save checks against; `nil` for a new document. A transaction that
    /// was rolled back leaves the one from before.
    public var revision: RevisionID? { origin.revision }
    /// The properties.
    public var properties: NamedValues<DocumentValue>
    /// The attachments by name, which the saved revision gets, all of them and no others.
    public var attachments: NamedValues<Attachment> = [:]

    /// A new document.
    ///
    /// - Parameters:
    ///   - id: Its name; where there is none, saving makes one.
    ///   - properties: What it holds.
    public init(id: String? = nil, _ properties: NamedValues<DocumentValue> = [:]) {
        origin = DraftOrigin(id: id)
        self.properties = properties
    }

    /// A new document with the properties of a JSON object.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column.
    public init(id: String? = nil, json: String) throws(DatabaseError) {
        self.init(id: id)
        try set(json: json)
    }

    /// A copy of `document`, to be changed and saved in its place.
    public init(_ document: Document) {
        origin = DraftOrigin(document)
        properties = DocumentValue.properties(document.properties)
        attachments = document.attachments
    }

    /// Replaces all properties by those of a JSON object.
    ///
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column.
    public mutating func set(json: String) throws(DatabaseError) {
        let document = try translating { () throws(FleeceError) in try FleeceDocument(json: json) }
        properties = DocumentValue.properties(try DocumentBody(new: document).dictionary)
    }

    /// A property. Assigning `nil` removes it; a property that is ``DocumentValue/null`` is there.
    public subscript(key: String) -> DocumentValue? {
        get { properties[key] }
        set { properties[key] = newValue }
    }

    /// The value that `path` leads to, as in `draft[path: "phones[0].kind"]`; see the subscripts of optional values.
    public subscript(path path: FleecePath) -> DocumentValue? {
        get { DocumentValue?.some(.dictionary(properties))[path: path] }
        set {
            var root = DocumentValue?.some(.dictionary(properties))
            properties = [:]
            root[path: path] = newValue
            properties = root.dictionary ?? [:]
        }
    }

    /// Whether there is a property of that name, be it null.
    public func contains(_ key: String) -> Bool { properties[key] != nil }

    /// The properties as JSON text.
    ///
    /// - Throws: `invalidDocument` for a number that is not finite, `limitExceeded` for too deep nesting.
    public func json(_ format: JSONFormat = .compact) throws(DatabaseError) -> String {
        try DocumentValue.dictionary(properties).json(format)
    }

}

extension MutableDocument: DocumentDraft {
    /// The properties and attachments.
    public func content() throws(DatabaseError) -> IncomingDocument {
        var document = try BodyMaker().document(properties)
        if document.attachments == nil {
            document.attachments = attachments.mapValues { AttachmentClaim($0) }
        }
        return document
    }

    /// Takes the attachments, with what is known of them now.
    public mutating func adopt(_ document: Document) {
        attachments = document.attachments
        properties[ReservedNames.attachments] = nil
    }
}

extension MutableDocument: Hashable, CustomStringConvertible {
    /// Whether both have the same ID, byte by byte, are based on the same revision, and hold the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.origin == right.origin && left.properties == right.properties
            && left.attachments == right.attachments
    }

    /// Hashes ID, revision and properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(properties)
    }

    /// ID, revision and properties.
    public var description: String {
        "\(id ?? "(new)")\(revision.map { " at \($0)" } ?? ""): \(DocumentValue.dictionary(properties))"
    }
}

extension Document {
    /// A copy to be changed and saved in this one's place.
    public func mutableCopy() -> MutableDocument { MutableDocument(self) }
}
