import Fleece
import Roost

extension Frame {
    /// What stands beside the present document of a source; missing for one that has no such thing.
    func lookUp(_ field: MetaField, _ source: Int, _ collection: DocumentCollection?) -> Value {
        guard failure == nil, let row = rowMetadata(source), let body = row.body,
            field == .attachments ? body.hasAttachments : body.isConflicted
        else { return .missing }
        do throws(DatabaseError) {
            guard let (document, snapshot) = try reader?.document(row.id.string, of: collection) else {
                return .missing
            }
            let value: DocumentValue
            if field == .attachments {
                value = .dictionary(document.attachmentStubs(.md5Digests))
            } else {
                value = .array(try snapshot.conflicts(of: document.id).map { .string("\($0.revision)") })
            }
            return Value(FleeceNode(root: arena.copy(try value.fleeceBytes())))
        } catch {
            fail(error)
            return .missing
        }
    }
}
