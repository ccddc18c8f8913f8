import Roost

/// Functions that look for regular expressions.
enum Patterns {
    /// - Parameter constant: the expression, where it is the same for all rows.
    static func evaluation(
        _ function: Function, _ values: [Evaluation], _ constant: RegularExpression?
    ) -> Evaluation {
        { frame in
            let (value, pattern) = (values[0](frame), values[1](frame))
            // A selector's condition holds of strings only.
            if function == .matches, value.text == nil { return .bool(false) }
            guard value.isValued, pattern.isValued else {
                return value.isMissing || pattern.isMissing ? .missing : .null
            }
            guard let text = value.string, let pattern = pattern.string,
                let expression = constant ?? frame.regularExpression(pattern)
            else { return .null }
            do throws(PatternMatcher.TooManySteps) {
                return try result(function, text, expression, values, frame)
            } catch {
                frame.fail(
                    DatabaseError(
                        .limitExceeded,
                        "Matching the regular expression \(pattern.prefix(60).debugDescription) takes more than "
                            + "\(PatternMatcher.mostSteps) steps on one text. Make it simpler: repetitions within "
                            + "repetitions are what takes long."))
                return .null
            }
        }
    }

    private static func result(
        _ function: Function, _ text: String, _ expression: RegularExpression, _ values: [Evaluation],
        _ frame: Frame
    ) throws(PatternMatcher.TooManySteps) -> Value {
        let scalars = Array(text.unicodeScalars)
        var matcher = PatternMatcher(expression, scalars)
        switch function {
        case .regexpPosition:
            let match = try matcher.firstMatch()
            return .integer(Int64((match?[0])?.lowerBound ?? -1))
        case .regexpReplace: return try replace(scalars, &matcher, values, frame)
        default: return .bool(try matcher.firstMatch() != nil)
        }
    }

    /// regexp_replace(text, expression, replacement, count?): in the replacement `$1` is what the first group took, `$0` and
    /// `$&` everything, `$$` a dollar sign.
    private static func replace(
        _ text: [Unicode.Scalar], _ matcher: inout PatternMatcher, _ values: [Evaluation], _ frame: Frame
    ) throws(PatternMatcher.TooManySteps) -> Value {
        let replacement = values[2](frame)
        guard replacement.isValued else { return replacement }
        guard let template = replacement.string.map({ Array($0.unicodeScalars) }) else { return .null }
        var left = Int.max
        if values.count == 4 {
            let count = values[3](frame)
            guard let number = count.wholeNumber else { return count.isMissing ? .missing : .null }
            left = number < 0 ? .max : Int(number)
        }
        var result = String.UnicodeScalarView()
        var position = 0
        var start = 0
        while left > 0, start <= text.count, let match = try matcher.firstMatch(from: start),
            let whole = match[0]
        {
            result.append(contentsOf: text[position..<whole.lowerBound])
            expand(template, match, text, &result)
            position = whole.upperBound
            start = whole.isEmpty ? whole.upperBound + 1 : whole.upperBound
            left -= 1
            guard result.count < 1 << 24 else { return .null }
        }
        if position < text.count { result.append(contentsOf: text[position...]) }
        return frame.string(String(result))
    }

    private static func expand(
        _ template: [Unicode.Scalar], _ match: [Range<Int>?], _ text: [Unicode.Scalar],
        _ result: inout String.UnicodeScalarView
    ) {
        var index = 0
        while index < template.count {
            let scalar = template[index]
            index += 1
            guard scalar == "$", index < template.count else {
                result.append(scalar)
                continue
            }
            let next = template[index]
            if next == "$" {
                result.append("$")
            } else if next == "&" {
                if let range = match[0] { result.append(contentsOf: text[range]) }
            } else if let digit = Int(String(next)), digit < match.count {
                if let range = match[digit] { result.append(contentsOf: text[range]) }
            } else {
                result.append("$")
                continue
            }
            index += 1
        }
    }
}

extension Frame {
    /// The expression that a text describes, kept for the next row; notes the failure where it is malformed.
    func regularExpression(_ pattern: String) -> RegularExpression? {
        if let known = patterns[pattern] { return known }
        do throws(QueryError) {
            let expression = try RegularExpression(pattern)
            if patterns.count >= 100 { patterns.removeAll() }
            patterns[pattern] = expression
            return expression
        } catch {
            fail(DatabaseError(.invalidQuery, error.message, underlyingError: error))
            return nil
        }
    }
}
