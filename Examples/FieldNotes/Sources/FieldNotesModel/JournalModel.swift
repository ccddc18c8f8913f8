import Foundation
import Observation
import Roost
import RoostQuery
import RoostSync

/// What the views observe.
@MainActor @Observable
public final class JournalModel {
    /// What the list shows: the newest sightings as far as it was scrolled, or what was searched for.
    public private(set) var sightings: [Versioned<Sighting>] = []
    /// Whether there is more below ``sightings``.
    public private(set) var hasMore = false
    /// How the sync stands, in words.
    public private(set) var syncText = "Not synced"
    /// The last error, for an alert.
    public var failure: String?
    /// What is typed into the search field.
    public var searched = "" {
        didSet { if searched != oldValue { restart() } }
    }

    /// The database below.
    public let journal: Journal
    private var shown = Journal.pageLength
    private var listing: Task<Void, Never>?
    private var syncing: Task<Void, Never>?

    /// A model that shows the newest sightings.
    public init(_ journal: Journal) {
        self.journal = journal
        restart()
    }

    // MARK: The list

    /// Shows one more page; called when the last row appears.
    public func showMore() {
        guard hasMore, searched.isEmpty else { return }
        shown += Journal.pageLength
        restart()
    }

    /// Follows what the list shows. A change that the sync brings comes in by the same door as one that is made here.
    private func restart() {
        listing?.cancel()
        let (journal, searched, shown) = (journal, searched, shown)
        listing = Task { [weak self] in
            do {
                guard searched.isEmpty else {
                    let found = try await journal.search(searched)
                    if !Task.isCancelled { self?.show(found, hasMore: false) }
                    return
                }
                // One more than is shown tells whether there is one.
                for try await newest in journal.newest(shown + 1) {
                    guard !Task.isCancelled, let self else { return }
                    show(Array(newest.prefix(shown)), hasMore: newest.count > shown)
                }
            } catch {
                self?.tell(error)
            }
        }
    }

    private func show(_ sightings: [Versioned<Sighting>], hasMore: Bool) {
        (self.sightings, self.hasMore) = (sightings, hasMore)
    }

    /// Does something that may fail, for a button.
    public func attempt(_ action: @escaping @MainActor (Journal) async throws -> Void) {
        Task {
            do { try await action(journal) } catch { tell(error) }
        }
    }

    private func tell(_ error: any Error) {
        if !(error is CancellationError) { failure = error.localizedDescription }
    }

    // MARK: The sync

    /// Begins to sync, in place of what was begun before.
    public func sync(with server: URL, user: String, password: String) {
        syncing?.cancel()
        do {
            let replication = try journal.sync(with: server, user: user, password: password)
            syncing = Task { [weak self] in
                for await status in replication.updates { self?.syncText = Self.text(status) }
                await replication.stop()
            }
        } catch {
            tell(error)
        }
    }

    /// Ends the sync.
    public func stopSync() {
        syncing?.cancel()
        syncing = nil
        syncText = "Not synced"
    }

    static func text(_ status: ReplicationStatus) -> String {
        let problems = status.problemCount == 0 ? "" : ", \(status.problemCount) not carried"
        switch status.phase {
        case .active: return "Syncing…" + problems
        case .idle: return "Up to date" + problems
        case .waiting: return "Offline, trying again" + problems
        case .paused: return "Paused" + problems
        case .finished: return "Not synced" + problems
        case .failed(let error): return "Not synced: \(error.localizedDescription)"
        }
    }
}
