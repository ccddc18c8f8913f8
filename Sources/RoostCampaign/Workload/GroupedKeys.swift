import RoostStorage

/// Keys in groups that start with the same bytes, up to nearly a whole key's length, and strangers among them.
///
/// A page holds what its keys have in common once, so a stranger beside such keys makes each of them take its whole
/// length: the shape of keys for which sizes of pages are hardest to foresee.
package struct GroupedKeys: Sendable {
    private static let longestKey = 4096
    /// A key's own bytes after what its group has in common.
    private static let longestSuffix = 96

    private let prefixes: [[UInt8]]
    /// How many numbers a group's keys are drawn from.
    private let population: Int

    /// One to five groups, some of which continue others.
    package init(_ generator: inout some RandomNumberGenerator) {
        population = [30, 150, 600].randomElement(using: &generator) ?? 30
        var prefixes: [[UInt8]] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let longest = [40, 400, GroupedKeys.longestKey - GroupedKeys.longestSuffix]
            let length = Int.random(
                in: 0...(longest.randomElement(using: &generator) ?? 0), using: &generator)
            let start = Bool.random(using: &generator) ? prefixes.last ?? [] : []
            let byte = UInt8.random(in: 0...255, using: &generator)
            let rest = (0..<max(0, length - start.count)).map { $0 % 11 == 0 ? UInt8(ascii: "/") : byte }
            prefixes.append(start.prefix(length) + rest)
        }
        self.prefixes = prefixes
    }

    /// One of the keys: most are their group's beginning and a number.
    package func next(_ generator: inout some RandomNumberGenerator) -> Key {
        let prefix = prefixes.randomElement(using: &generator) ?? []
        switch Int.random(in: 0..<40, using: &generator) {
        case 0:
            return Key(
                (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                })
        case 1, 2:
            // Has less in common with its group than the others.
            let shared = prefix.prefix(Int.random(in: 0...prefix.count, using: &generator))
            return Key(shared + [[0x00, 0x7E, 0xFF].randomElement(using: &generator) ?? 0])
        case 3:
            // Goes on with another group's beginning.
            let other = prefixes.randomElement(using: &generator) ?? []
            return Key(Array((prefix + other).prefix(GroupedKeys.longestKey)))
        case 4:
            let suffix = [UInt8](
                repeating: .random(in: 0...255, using: &generator),
                count: Int.random(in: 0...GroupedKeys.longestSuffix, using: &generator))
            return Key(prefix + suffix)
        default:
            return Key(prefix + String(100_000 + Int.random(in: 0..<population, using: &generator)).utf8)
        }
    }
}
