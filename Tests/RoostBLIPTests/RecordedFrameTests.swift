import Foundation
import Testing

@testable import RoostBLIP

/// Frames that Couchbase Lite sends are read, and written again where the format leaves no choice.
@Suite struct RecordedFrameTests {
    private struct Connection {
        var name: String
        var frames: [(isFromClient: Bool, bytes: [UInt8])] = []
    }

    private static func connections() throws -> [Connection] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Recorded/litecore-4.1.0.txt")
        var connections: [Connection] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        where !line.hasPrefix("#") {
            if line.hasPrefix("==") {
                connections.append(Connection(name: String(line)))
            } else {
                let digits = Array(line.dropFirst(2).utf8)
                let bytes = stride(from: 0, to: digits.count, by: 2).map {
                    UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)!
                }
                connections[connections.count - 1].frames.append((line.hasPrefix("C"), bytes))
            }
        }
        return connections
    }

    /// Decodes a connection, each direction with a reader of its own.
    private static func decode(_ connection: Connection) throws -> [(isFromClient: Bool, frame: BLIPFrame)] {
        var client = BLIPFrameReader()
        var server = BLIPFrameReader()
        return try connection.frames.map { isFromClient, bytes in
            (
                isFromClient,
                try isFromClient ? client.read(bytes, limit: 1 << 20) : server.read(bytes, limit: 1 << 20)
            )
        }
    }

    @Test func allFramesAreReadWithTheirChecksums() throws {
        let connections = try Self.connections()
        #expect(connections.count == 14)
        #expect(try connections.reduce(0) { try $0 + Self.decode($1).count } == 190)
    }

    @Test func theFirstConnectionSaysWhatWasRecorded() throws {
        let frames = try Self.decode(try #require(try Self.connections().first))
        let first = try BLIPMessage(decoding: frames[0].frame.piece)
        #expect(first.properties["Profile"] == "getCollections")
        #expect(first.properties["uuid"] == "e752fb56-5cc4-406a-8ed5-776b969e5899")
        #expect(
            String(decoding: first.body, as: UTF8.self)
                == #"{"checkpoint_ids":["cp-ipcr0mpIbhPsiTJRoRuRuPKEUMw="],"collections":["_default"]}"#)
        #expect(frames[1].frame.kind == .reply)
        let proposal = frames[2].frame
        #expect(proposal.flags == [.compressed, .urgent])
        let message = try BLIPMessage(decoding: proposal.piece)
        #expect(message.properties.flag("conflictIncludesRev"))
        #expect(!message.properties.flag("collection"))
        #expect(String(decoding: message.body, as: UTF8.self).hasPrefix(#"[["beta","18ec4b2b32380000@"#))
    }

    /// Requests of one side are numbered from 1 without a gap.
    @Test func requestsAreNumberedInTheirOrder() throws {
        for connection in try Self.connections() {
            for isFromClient in [true, false] {
                var last: UInt64 = 0
                for (direction, frame) in try Self.decode(connection)
                where direction == isFromClient && frame.kind == .request && frame.number > last {
                    #expect(frame.number == last + 1, "\(connection.name)")
                    last = frame.number
                }
            }
        }
    }

    /// Two compressors may choose other bytes. Everything else of a frame follows from what came before it.
    @Test func framesAreWrittenAsTheyWereRecorded() throws {
        for connection in try Self.connections() {
            var writers = [BLIPFrameWriter(), BLIPFrameWriter()]
            for ((isFromClient, recorded), decoded) in zip(connection.frames, try Self.decode(connection)) {
                var frame = decoded.frame
                let written = writers[isFromClient ? 0 : 1].write(&frame)
                if frame.flags.contains(.compressed) {
                    #expect(written.suffix(4) == recorded.suffix(4))
                } else {
                    #expect(written == recorded)
                    #expect(frame == decoded.frame)
                }
            }
        }
    }

    @Test func whatTheWriterCompressesTheReaderReads() throws {
        for connection in try Self.connections() {
            var (writer, reader) = (BLIPFrameWriter(), BLIPFrameReader())
            for decoded in try Self.decode(connection) where decoded.isFromClient {
                var frame = decoded.frame
                let bytes = writer.write(&frame)
                let again = try reader.read(bytes, limit: 1 << 20)
                #expect(again.piece == decoded.frame.piece && again.flags == frame.flags)
                #expect(again.wireCount == frame.wireCount)
            }
        }
    }

    /// A flipped bit is an error, or stands in the header, which the checksum does not cover, or is padding of the compressed data: the
    /// content is never another one.
    @Test func everyFlippedBitIsNoticed() throws {
        let connection = try #require(try Self.connections().first)
        let original = try Self.decode(connection).map(\.frame)
        for (index, (isFromClient, bytes)) in connection.frames.prefix(8).enumerated() {
            for bit in 0..<(bytes.count * 8) {
                var changed = connection
                changed.frames[index].bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                changed.frames = Array(changed.frames[...index])
                guard let frames = try? Self.decode(changed) else { continue }
                let frame = frames[index].frame
                #expect(frame.piece == original[index].piece, "bit \(bit) of frame \(index), \(isFromClient)")
                if bit < 16 { #expect(frame != original[index]) }
            }
        }
    }
}
