/// Gathers findings, each once, up to a limit.
final class FindingList {
    private(set) var findings: [CheckFinding] = []
    private(set) var further = 0
    private var seen: Set<CheckFinding> = []
    private let limit: Int
    /// Set while trees are walked again for another purpose.
    var isMuted = false

    init(limit: Int) { self.limit = max(1, limit) }

    func add(
        _ what: String, at offset: UInt64, tree: String? = nil, _ severity: CheckFinding.Severity = .error
    ) {
        let finding = CheckFinding(offset: offset, what: what, tree: tree, severity: severity)
        guard !isMuted, !seen.contains(finding) else { return }
        guard findings.count < limit else {
            further += 1
            return
        }
        seen.insert(finding)
        findings.append(finding)
    }

    /// Adds what `error` says of the file; what does not concern the file is thrown on.
    func add(
        _ error: StoreError, at offset: UInt64, tree: String? = nil,
        _ severity: CheckFinding.Severity = .error
    ) throws(StoreError) {
        switch error.code {
        case .damaged:
            let damage = error.cause as? Damage
            add(damage?.what ?? error.message, at: damage?.offset ?? offset, tree: tree, severity)
        case .inputOutput:
            add("bytes that the medium does not give back", at: offset, tree: tree, severity)
        default:
            throw error
        }
    }
}
