import Foundation
import RoostStorage

// A word counter on the ordered store: counts by word, and words by count, kept in step by transactions.

let path = FileManager.default.temporaryDirectory.appendingPathComponent("word-count-\(UUID()).roost").path
defer { try? FileManager.default.removeItem(atPath: path) }

let store = try Store.open(path)
let counts = try store.tree("counts")
let ranking = try store.tree("ranking")

for line in ["the owl and the pussycat", "the owl looked up", "and sang to the stars"] {
    try store.write { transaction in
        for word in line.split(separator: " ") {
            let count = try transaction[counts, Key(word)].flatMap { Key($0).number } ?? 0
            if count > 0 { try transaction.delete(rankingKey(count, word), in: ranking) }
            try transaction.put(Key(word), Key(count + 1).bytes, in: counts)
            try transaction.put(rankingKey(count + 1, word), [], in: ranking)
        }
    }
}

/// Orders by count, then by word.
func rankingKey(_ count: UInt64, _ word: Substring) -> Key { Key(Key(count).bytes + Array(word.utf8)) }

let snapshot = store.snapshot()
try snapshot[ranking].forEach(reversed: true, limit: 3) { key, _ in
    print(Key(Array(key.bytes.prefix(8))).number ?? 0, Key(Array(key.bytes.dropFirst(8))).string ?? "?")
    return true
}
print("\(try snapshot[counts].count) different words")
try store.close()
