import RoostBytes
import RoostStorage

/// Reads everything that a snapshot shows.
package enum Contents {
    /// All trees and entries, through cursors.
    package static func read(_ snapshot: Snapshot) throws(StoreError) -> StoreModel {
        var model = StoreModel()
        for name in snapshot.treeNames {
            guard let tree = snapshot.tree(name) else { continue }
            model[name] = try read(try snapshot[tree])
        }
        return model
    }

    /// All trees and entries as a transaction sees them.
    package static func read(_ transaction: StoreTransaction) throws(StoreError) -> StoreModel {
        var model = StoreModel()
        for name in transaction.treeNames {
            model[name] = try read(try transaction[try transaction.tree(name)])
        }
        return model
    }

    /// Whether a snapshot shows just `model`: all trees and entries, up to the first that differs.
    package static func shows(_ snapshot: Snapshot, _ model: StoreModel) throws(StoreError) -> Bool {
        guard snapshot.treeNames == model.names else { return false }
        for name in model.names {
            guard let tree = snapshot.tree(name), try shows(try snapshot[tree], model[name]) else {
                return false
            }
        }
        return true
    }

    private static func shows(_ view: TreeView, _ model: TreeModel) throws(StoreError) -> Bool {
        let cursor = view.cursor()
        var count = 0
        while try cursor.next() {
            guard count < model.count, cursor.keyView.holds(model.keys[count].bytes) else { return false }
            let expected = model.values[count]
            let isExpected = try cursor.valueView().holds(expected.bytes)
            guard isExpected, cursor.reference == nil || cursor.inline.holds(expected.inline) else {
                return false
            }
            count += 1
        }
        return count == model.count
    }

    private static func read(_ view: TreeView) throws(StoreError) -> TreeModel {
        var model = TreeModel()
        let cursor = view.cursor()
        while try cursor.next() {
            let inline = cursor.reference == nil ? [] : cursor.inline.array
            model.append(cursor.key, TreeModel.Value(inline: inline, bytes: try cursor.value()))
        }
        return model
    }
}

extension ByteView {
    fileprivate func holds(_ bytes: [UInt8]) -> Bool {
        bytes.withView { count == $0.count && compare($0) == 0 }
    }
}

/// Says where contents differ.
package enum ContentComparison {
    /// The first difference in words, `nil` when there is none.
    package static func difference(_ found: StoreModel, _ expected: StoreModel) -> String? {
        if found == expected { return nil }
        guard found.names == expected.names else {
            return "the trees are \(found.names) instead of \(expected.names)"
        }
        for name in expected.names {
            if let difference = difference(found[name], expected[name]) {
                return "tree \"\(name)\" has \(difference)"
            }
        }
        return "the models differ"
    }

    private static func difference(_ found: TreeModel, _ expected: TreeModel) -> String? {
        let shared = min(found.count, expected.count)
        for index in 0..<shared where found.keys[index] != expected.keys[index] {
            return "key \(short(found.keys[index])) instead of \(short(expected.keys[index])) at \(index)"
        }
        for index in 0..<shared where found.values[index] != expected.values[index] {
            return "another value under \(short(expected.keys[index])) at \(index)"
        }
        return found.count == expected.count ? nil : "\(found.count) entries instead of \(expected.count)"
    }

    private static func short(_ key: Key) -> String {
        key.bytes.count <= 10 ? "\(key.bytes)" : "\(key.bytes.prefix(10))… (\(key.bytes.count) bytes)"
    }
}
