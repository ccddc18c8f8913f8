import Fleece
import Roost
import RoostCrypto

/// Names the checkpoints of a replication: the same endpoints and the same selection, by the same filter function, have the same name.
///
/// SHA-256, in hexadecimal, of canonical JSON about both ends and what is replicated. Names of other programs' replicators
/// never meet these, and need not.
package enum ReplicationID {
    package static func make(
        source: String, target: String, _ options: ReplicationOptions, filterCode: String? = nil
    ) -> String {
        var parts: NamedValues<DocumentValue> = [
            "source": .string(source), "target": .string(target), "selection": options.selection.description,
        ]
        if let filterCode { parts["filterCode"] = .string(filterCode) }
        if let since = options.since { parts["since"] = .string(since) }
        let text = DocumentValue.dictionary(parts).description
        return SHA256.hash(Array(text.utf8)).description
    }
}
