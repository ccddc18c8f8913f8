import Foundation

/// How figures are written: three digits, thousands and millions abbreviated.
enum Figures {
    static func short(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case 999_500...: digits(value / 1e6) + "M"
        case 9_995...: digits(value / 1e3) + "k"
        case 1_000...: String(Int(value.rounded()))
        default: digits(value)
        }
    }

    /// A ratio, with the zero before the point left out.
    static func ratio(_ value: Double) -> String {
        if value >= 9.95 { return String(Int(value.rounded())) }
        let text = String(format: value >= 0.995 ? "%.1f" : "%.2f", value)
        return text.hasPrefix("0") ? String(text.dropFirst()) : text
    }

    private static func digits(_ value: Double) -> String {
        switch abs(value) {
        case 99.95...: String(format: "%.0f", value)
        case 9.995...: String(format: "%.1f", value)
        default: String(format: "%.2f", value)
        }
    }
}
