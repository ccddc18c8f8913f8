import Dispatch
import Synchronization
import Testing

@testable import RoostFile

@Suite struct BackgroundWorkTests {
    @Test func bothGoOnAtTheSameTime() throws {
        let (isBegun, othersBegan) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let met = Atomic(0)
        try BackgroundWork.run { () throws(FileError) in
            isBegun.signal()
            if othersBegan.wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
        } beside: {
            othersBegan.signal()
            if isBegun.wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
        }
        #expect(met.load(ordering: .relaxed) == 2)
    }

    /// Whoever gets there first, it is done once, and only then is the call over.
    @Test func itIsDoneOnceBeforeTheCallReturns() throws {
        for _ in 0..<200 {
            let count = Atomic(0)
            var others = 0
            try BackgroundWork.run { () throws(FileError) in
                count.add(1, ordering: .relaxed)
            } beside: {
                others += 1
            }
            #expect(count.load(ordering: .relaxed) == 1)
            #expect(others == 1)
        }
    }

    @Test func aFailureIsReportedAfterTheOtherWorkIsDone() {
        for _ in 0..<100 {
            var others = 0
            #expect(throws: FileError.self) {
                try BackgroundWork.run { () throws(FileError) in
                    throw FileError(.inputOutput, operation: "sync", path: "file")
                } beside: {
                    others += 1
                }
            }
            #expect(others == 1)
        }
    }

    /// What it refers to is released when it is done, though the pool may not have come to it yet.
    @Test func nothingIsKeptAfterwards() throws {
        final class Token: Sendable {}
        for _ in 0..<100 {
            weak var released: Token?
            do {
                let token = Token()
                released = token
                try BackgroundWork.run { () throws(FileError) in
                    withExtendedLifetime(token) {}
                } beside: {
                }
            }
            #expect(released == nil)
        }
    }
}
