import Fleece
import Roost

/// What the JSON text of a revision says of its attachments.
struct AttachmentText {
    let name: String
    /// That of the content; `nil` where it is not known.
    let digest: String?
    let contentType: String?
    let length: UInt64?
    /// Whether the source keeps it as gzip. The length is then sometimes that of the gzip: CouchDB knows no other of what was
    /// put there as gzip.
    let isEncoded: Bool

    /// The text with the attachments that came after `generation` as ones that follow it, and these, in the order in which
    /// the text names them.
    ///
    /// - Parameter generation: 0 for all: also those that say that they came before any revision, as CouchDB has it of what was stored
    ///   with a history and no `revpos`.
    /// - Parameter lengths: The lengths of contents where what the text says is not to be relied on.
    /// - Throws: `invalidDocument`, `corruptRevisionData`.
    static func following(
        _ json: [UInt8], newerThan generation: UInt64, lengths: NamedValues<UInt64> = [:]
    ) throws -> (text: [UInt8], attachments: [AttachmentText]) {
        guard mayNameAttachments(json) else { return (json, []) }
        guard case .dictionary(var document) = try DocumentValue(json: String(decoding: json, as: UTF8.self)),
            case .dictionary(var members)? = document["_attachments"]
        else { return (json, []) }
        var attachments: [AttachmentText] = []
        for (name, value) in members {
            guard case .dictionary(var fields) = value else { continue }
            guard fields["data"] == nil else { continue }
            // The content is sent as it is, whatever the source keeps it as. CouchDB's digest is that of the gzip it keeps,
            // which the target does not have.
            let isEncoded = fields["encoding"] != nil
            if isEncoded { fields["digest"] = nil }
            fields["encoding"] = nil
            fields["encoded_length"] = nil
            if let length = lengths[name] { fields["length"] = .integer(Int64(clamping: length)) }
            guard generation == 0 || fields["revpos"]?.position ?? .max > generation else {
                members[name] = .dictionary(fields)
                continue
            }
            fields["stub"] = nil
            fields["follows"] = true
            members[name] = .dictionary(fields)
            attachments.append(
                AttachmentText(
                    name: name, digest: fields["digest"]?.string, contentType: fields["content_type"]?.string,
                    length: fields["length"]?.position, isEncoded: isEncoded))
        }
        document["_attachments"] = .dictionary(members)
        return (Array(try DocumentValue.dictionary(document).json().utf8), attachments)
    }

    /// Whether a text may name attachments: it has their property's name, or an escape that may be a part of it.
    /// Most documents have none, and need not be parsed and written again for that.
    private static func mayNameAttachments(_ json: [UInt8]) -> Bool {
        let name = Array("_attachments".utf8)
        return json.indices.contains { index in
            switch json[index] {
            case name[0]: json[index...].starts(with: name)
            case UInt8(ascii: "\\"): index + 1 < json.count && json[index + 1] == UInt8(ascii: "u")
            default: false
            }
        }
    }
}

extension DocumentValue {
    fileprivate var position: UInt64? { int.flatMap { UInt64(exactly: $0) } }
}
