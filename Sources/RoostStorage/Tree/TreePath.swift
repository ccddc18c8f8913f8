/// The way down from a tree's root: each branch node, and which of its children comes next.
struct TreePath {
    struct Step {
        let node: BranchNode
        let index: Int
    }

    private(set) var steps: [Step] = []

    /// Where the node that the path leads to hangs; `nil` for the root.
    var last: Step? { steps.last }

    /// The way to the last step's node.
    var parent: TreePath {
        var parent = self
        parent.removeLast()
        return parent
    }

    /// Whether it leads to the tree's last node of its level.
    var isRightEdge: Bool { steps.allSatisfy { $0.index == $0.node.count - 1 } }

    /// The key at which the span ends of the node that the path leads to; `nil` for the last one.
    var upperFence: [UInt8]? {
        for step in steps.reversed() where step.index + 1 < step.node.count {
            return step.node.separators.key(step.index + 1).array
        }
        return nil
    }

    /// Leads to the root again, keeping the memory.
    @inline(__always) mutating func reset() { steps.removeAll(keepingCapacity: true) }

    @inline(__always) mutating func append(_ node: BranchNode, _ index: Int) {
        steps.append(Step(node: node, index: index))
    }

    mutating func removeLast() { steps.removeLast() }

    /// Adds `change` to the summaries of all nodes on the way.
    @inline(__always)
    func adjust(by change: Summary) {
        unsafe steps.withUnsafeBufferPointer { steps in
            for index in steps.indices {
                // The path keeps its nodes.
                unsafe Unmanaged.passUnretained(steps[index].node)._withUnsafeGuaranteedRef {
                    $0.summary += change
                }
            }
        }
    }
}
