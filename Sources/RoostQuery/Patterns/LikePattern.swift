import RoostBytes
import RoostOrder

/// LIKE: `%` stands for any characters, `_` for one, and a backslash makes either an ordinary character.
enum LikePattern {
    static func matches(_ text: ByteView, _ pattern: ByteView, _ collation: Collation) -> Bool {
        switch collation.texts {
        case .bytes: return matches(Scalars(text), Scalars(pattern))
        case .caselessASCII:
            return matches(Scalars(text, isCaseless: true), Scalars(pattern, isCaseless: true))
        case .unicode:
            let text = String(UnicodeText.fold(text.string, collation))
            let pattern = String(UnicodeText.fold(pattern.string, collation))
            return matches(Array(text.unicodeScalars), Array(pattern.unicodeScalars))
        }
    }

    private static func matches(_ text: Scalars, _ pattern: Scalars) -> Bool {
        matches(text.array, pattern.array)
    }

    /// Goes back to the last `%` only, so that it takes at most the product of both lengths.
    private static func matches(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var (position, index) = (0, 0)
        var retry: (position: Int, index: Int)?
        while true {
            if index == pattern.count {
                if position == text.count { return true }
            } else if pattern[index] == "%" {
                index += 1
                retry = (position, index)
                continue
            } else if position < text.count {
                var wanted = pattern[index]
                var isAny = wanted == "_"
                var length = 1
                if wanted == "\\", index + 1 < pattern.count {
                    wanted = pattern[index + 1]
                    isAny = false
                    length = 2
                }
                if isAny || text[position] == wanted {
                    position += 1
                    index += length
                    continue
                }
            }
            guard let last = retry, last.position < text.count else { return false }
            retry = (last.position + 1, last.index)
            (position, index) = (last.position + 1, last.index)
        }
    }

    /// The characters of a text.
    private struct Scalars {
        let array: [Unicode.Scalar]

        init(_ text: ByteView, isCaseless: Bool = false) {
            array = text.string.unicodeScalars.map {
                isCaseless && $0.isASCII ? Unicode.Scalar(UInt8($0.value).asciiLowercased) : $0
            }
        }
    }
}
