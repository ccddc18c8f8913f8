import Fleece
import Roost

/// What the JSON text of a revision says of its attachments.
struct AttachmentText {
    let name: String
    let digest: String?
    let contentType: String?
    let length: UInt64?

    /// The text with the attachments that came after `generation` as ones that follow it, and these, in the order in which
    /// the text names them.
    ///
    /// - Throws: `invalidDocument`, `corruptRevisionData`.
    static func following(
        _ json: [UInt8], newerThan generation: UInt64
    ) throws -> (text: [UInt8], attachments: [AttachmentText]) {
        guard case .dictionary(var document) = try DocumentValue(json: String(decoding: json, as: UTF8.self)),
            case .dictionary(var members)? = document["_attachments"]
        else { return (json, []) }
        var attachments: [AttachmentText] = []
        for (name, value) in members {
            guard case .dictionary(var fields) = value else { continue }
            guard fields["data"] == nil, fields["revpos"]?.position ?? .max > generation else { continue }
            fields["stub"] = nil
            fields["follows"] = true
            // The content is sent as it is, whatever the source keeps it as.
            fields["encoding"] = nil
            fields["encoded_length"] = nil
            members[name] = .dictionary(fields)
            attachments.append(
                AttachmentText(
                    name: name, digest: fields["digest"]?.string, contentType: fields["content_type"]?.string,
                    length: fields["length"]?.position))
        }
        document["_attachments"] = .dictionary(members)
        return (Array(try DocumentValue.dictionary(document).json().utf8), attachments)
    }
}

extension DocumentValue {
    fileprivate var position: UInt64? { int.flatMap { UInt64(exactly: $0) } }
}
