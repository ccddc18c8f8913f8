import Foundation
import RoostBytes
import Testing

@testable import RoostOrder

/// CLDR's conformance test: lines of text, each of which is not less than the one before.
@Suite struct ConformanceTests {
    /// Where Debian's unicode-cldr-core, which Scripts/setup installs, has the whole test of 176,963 lines.
    private static let installed =
        "/usr/share/unicode/cldr/common/uca/CollationTest_CLDR_NON_IGNORABLE_SHORT.txt"

    @Test("The kept sample, every 90th line and all contractions, is in order") func sample() throws {
        let sample = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Vectors/collation-sample.txt")
        let lines = try lines(of: sample)
        #expect(lines.count > 2000)
        #expect(misordered(lines) == [])
    }

    @Test(
        "All lines of the installed test are in order",
        .enabled(if: FileManager.default.fileExists(atPath: installed)))
    func all() throws {
        let lines = try lines(of: URL(filePath: Self.installed))
        #expect(lines.count > 170_000)
        #expect(misordered(lines) == [])
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map(String.init)
    }

    /// The first lines that compare as less than the one before.
    private func misordered(_ lines: [String]) -> [String] {
        var maker = SortKeyMaker(UnicodeOrder())
        var last = ByteBuffer()
        var found: [String] = []
        for line in lines where found.count < 20 {
            var text = String.UnicodeScalarView()
            let scalars = line.split(separator: " ").map {
                UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
            }
            // The test has surrogates too, which are no text in Swift.
            guard !scalars.contains(nil) else { continue }
            text.append(contentsOf: scalars.compactMap(\.self))
            let key = ByteBuffer()
            Array(String(text).utf8).withView { maker.append($0, to: key) }
            if key.view.compare(last.view) < 0 { found.append(line) }
            last = key
        }
        return found
    }
}
