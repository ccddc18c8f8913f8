/// Sizes as people read them.
enum Size {
    /// Three digits and a unit, in powers of 1024.
    static func text(_ bytes: UInt64) -> String {
        var value = Double(bytes)
        var units = ["bytes", "KiB", "MiB", "GiB", "TiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units = units.dropFirst()
        }
        guard let unit = units.first, unit != "bytes" else { return "\(bytes) bytes" }
        let digits = value >= 100 ? value.rounded() : (value * 10).rounded() / 10
        return "\(digits == digits.rounded() ? "\(Int(digits))" : "\(digits)") \(unit)"
    }
}
