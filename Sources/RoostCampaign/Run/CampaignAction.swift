import RoostSimulation

/// The steps that a run is made of.
enum CampaignAction: CaseIterable {
    case openStore
    case commit
    case rollBack
    case abandon
    case keepSnapshot
    case compareSnapshot
    case compare
    case openReader
    case sync
    case reopen
    case closeAndStay
    case planCrash
    case crash
    case killProcess
    case examineOutcomes
    case failCalls
    case fillDisk
    case moveClock
    case compact
    case check
    case follow
    case lookBack
    case backUp

    /// How often the action is drawn, relative to the others.
    private var weight: Int {
        switch self {
        case .openStore: 0
        case .commit: 55
        case .planCrash: 8
        case .examineOutcomes, .failCalls: 6
        case .rollBack, .keepSnapshot, .compareSnapshot, .reopen: 4
        case .compare, .openReader, .sync, .crash, .killProcess, .compact, .follow: 3
        case .fillDisk, .check, .lookBack, .backUp: 2
        case .abandon, .closeAndStay, .moveClock: 1
        }
    }

    private static let totalWeight = allCases.reduce(0) { $0 + $1.weight }

    static func draw(_ generator: inout SeededGenerator) -> CampaignAction {
        var rest = generator.next(below: totalWeight)
        for action in allCases {
            if rest < action.weight { return action }
            rest -= action.weight
        }
        return .commit
    }
}

extension Campaign {
    func perform(_ action: CampaignAction) throws {
        switch action {
        case .openStore: try open()
        case .commit: try commit()
        case .rollBack: try rollBack(explicitly: true)
        case .abandon: try rollBack(explicitly: false)
        case .keepSnapshot: try keepSnapshot()
        case .compareSnapshot: try compareSnapshot()
        case .compare: try compare()
        case .openReader: try openReader()
        case .sync: try sync()
        case .reopen: try reopen()
        case .closeAndStay: try closeAndStay()
        case .planCrash: planCrash()
        case .crash:
            simulation.disk.crash()
            try recover(.power)
        case .killProcess: try recover(.process)
        case .examineOutcomes: try examineOutcomes()
        case .failCalls: try failCalls()
        case .fillDisk: try fillDisk()
        case .compact: try compact()
        case .check: try check()
        case .follow: try follow()
        case .lookBack: try lookBack()
        case .backUp: try backUp()
        case .moveClock: simulation.clock.jump(to: generator.next() >> 8)
        }
    }
}
