import RoostSimulation
import RoostStorage

/// Commits of which each follows from its number alone: whoever knows how many were made knows what a store holds,
/// also in another process.
package struct NumberedWork: Sendable {
    /// Decides what all commits hold.
    package let seed: UInt64
    /// The tree that is changed; beside each other, several can be used by several threads.
    package let name: String
    /// The longest value, in bytes.
    package let largestValue: Int

    /// Work on the tree `name`.
    package init(seed: UInt64, tree name: String = "tree", largestValue: Int = 20_000) {
        self.seed = seed
        self.name = name
        self.largestValue = largestValue
    }

    private enum Change {
        case put(Key, [UInt8])
        case delete(Key)
        case deleteRange(KeyRange)
    }

    /// The key whose value is the number of the last commit.
    private static let counter: Key = "~"

    private func changes(_ number: UInt64) -> [Change] {
        var generator = SeededGenerator(seed: seed, stream: number)
        func key() -> Key { Key("key-\(generator.next(below: 400))") }
        let changes = (0...generator.next(below: 5)).map { _ in
            switch generator.next(below: 20) {
            case 0: return Change.deleteRange(KeyRange(lower: key(), upper: key()))
            case 1...4: return .delete(key())
            default:
                let length = generator.next(below: generator.chance(0.1) ? largestValue : 400)
                return .put(key(), (0..<length).map { UInt8(truncatingIfNeeded: UInt64($0) &* number) })
            }
        }
        return changes + [.put(Self.counter, Key(number).bytes)]
    }

    /// Does commit `number`, counted from 1, in `transaction`.
    package func apply(_ number: UInt64, to transaction: StoreTransaction) throws(StoreError) {
        let tree = try transaction.tree(name)
        for change in changes(number) {
            switch change {
            case .put(let key, let value): try transaction.put(key, value, in: tree)
            case .delete(let key): try transaction.delete(key, in: tree)
            case .deleteRange(let range): try transaction.delete(range, in: tree)
            }
        }
    }

    /// Does commit `number` to a model.
    package func apply(_ number: UInt64, to model: inout TreeModel) {
        for change in changes(number) {
            switch change {
            case .put(let key, let value): model.put(key, TreeModel.Value(bytes: value))
            case .delete(let key): _ = model.delete(key)
            case .deleteRange(let range): model.delete(range)
            }
        }
    }

    /// The tree after commits 1 to `number`.
    package func model(after number: UInt64) -> TreeModel {
        var model = TreeModel()
        for next in stride(from: 1, through: number, by: 1) { apply(next, to: &model) }
        return model
    }

    /// How many commits `model` says that it has.
    package static func number(_ model: TreeModel) -> UInt64 {
        model[counter].flatMap { Key($0.bytes).number } ?? 0
    }
}
