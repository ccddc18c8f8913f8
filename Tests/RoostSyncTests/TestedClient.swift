import Foundation

@testable import RoostSync

/// What speaks HTTP in a test: the platform's client, and on Linux that of Apple's systems, too.
enum TestedClient: CaseIterable, Sendable {
    case platform
    #if os(Linux) && ROOST_URLSESSION
        case session
    #endif

    func make(_ options: HTTPOptions = HTTPOptions()) -> any HTTPClient {
        switch self {
        case .platform: PlatformClient(options)
        #if os(Linux) && ROOST_URLSESSION
            case .session: SessionClient(options)
        #endif
        }
    }

    func remote(
        _ url: URL, credentials: RemoteDatabase.Credentials = .none, options: HTTPOptions = HTTPOptions()
    ) throws -> RemoteDatabase {
        try RemoteDatabase(url, credentials, by: make(options))
    }
}
