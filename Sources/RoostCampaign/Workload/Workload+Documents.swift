import RoostBytes
import RoostStorage

/// One value under two keys, as a document layer stores its bodies: by name, which owns it, and by sequence.
extension Workload {
    mutating func changeDocuments(
        _ transaction: StoreTransaction, _ model: inout StoreModel
    ) throws(StoreError) {
        let trees = DocumentTrees(
            documents: try transaction.tree("documents"), changes: try transaction.tree("changes"))
        for name in [trees.documents.name, trees.changes.name] where model.trees[name] == nil {
            model[name] = TreeModel()
        }
        if generator.chance(0.1) {
            try deleteDocuments(range(), trees, transaction, &model)
        } else {
            for _ in 0..<[1, 1, max(5, settings.mostEntries / 4)][generator.next(below: 3)] {
                // The key stands in the leaves of the other tree, which don't hold more.
                try putDocument(Key(Array(key().bytes.prefix(2048))), value(), trees, transaction, &model)
            }
        }
    }

    private struct DocumentTrees {
        let documents: Tree
        let changes: Tree
    }

    private func deleteDocuments(
        _ range: KeyRange, _ trees: DocumentTrees, _ transaction: StoreTransaction, _ model: inout StoreModel
    ) throws(StoreError) {
        for index in model["documents"].indices(in: range) {
            let sequence = Key(model["documents"].values[index].inline)
            try transaction.delete(sequence, in: trees.changes)
            _ = model["changes"].delete(sequence)
        }
        try transaction.delete(range, in: trees.documents)
        model["documents"].delete(range)
    }

    private mutating func putDocument(
        _ key: Key, _ body: [UInt8], _ trees: DocumentTrees, _ transaction: StoreTransaction,
        _ model: inout StoreModel
    ) throws(StoreError) {
        if let old = model["documents"][key] {
            try transaction.delete(Key(old.inline), in: trees.changes)
            _ = model["changes"].delete(Key(old.inline))
        }
        sequence += 1
        let number = Key(sequence)
        let value = try body.withView { (body) throws(StoreError) in try transaction.append(value: body) }
        try key.bytes.withView { (key) throws(StoreError) in
            try number.bytes.withView { (number) throws(StoreError) in
                try transaction.put(key, inline: number, value: value, owns: true, in: trees.documents)
                try transaction.put(number, inline: key, value: value, owns: false, in: trees.changes)
            }
        }
        model["documents"].put(key, TreeModel.Value(inline: number.bytes, bytes: body))
        model["changes"].put(number, TreeModel.Value(inline: key.bytes, bytes: body))
    }
}
