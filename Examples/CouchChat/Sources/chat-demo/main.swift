import ChatKit
import ChatService
import Foundation
import RoostServer

/// The whole chat in one program: a server, two people on devices of their own, a room, a picture, refusals, a server that goes
/// away and comes back. Ends with status 0 if everything came about.
do {
    try await Story().tell()
} catch {
    FileHandle.standardError.write(Data("chat-demo: \(error.localizedDescription)\n".utf8))
    exit(1)
}
