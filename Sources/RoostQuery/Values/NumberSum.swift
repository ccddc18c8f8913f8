/// Adds numbers up, whole ones exactly: their sum depends neither on their order nor on where some of them were added before.
struct NumberSum {
    /// How many numbers there are, and how many of these are whole.
    var count: UInt64 = 0
    var whole: UInt64 = 0
    /// The sum of the whole ones, which 2⁶³ of them don't exceed.
    var sum: Int128 = 0
    /// The sum of the others.
    var rest = 0.0

    /// Adds a value, if it is a number.
    @inline(__always)
    mutating func add(_ value: Value) {
        switch value {
        case .integer(let number):
            whole &+= 1
            sum &+= Int128(number)
        case .unsigned(let number):
            whole &+= 1
            sum &+= Int128(number)
        case .double(let number): rest += number
        case .decimal: rest += value.double ?? 0
        default: return
        }
        count &+= 1
    }

    mutating func add(_ other: Self) {
        count &+= other.count
        whole &+= other.whole
        sum &+= other.sum
        rest += other.rest
    }

    /// The sum: whole where all numbers are and it fits in 64 bits; 0 of none.
    var total: Value { whole == count ? .whole(sum) : .number(Double(sum) + rest) }

    /// The total; null of none.
    var totalOfAny: Value { count == 0 ? .null : total }

    /// Null of no numbers.
    var average: Value {
        guard count > 0, let total = total.double else { return .null }
        return .number(total / Double(count))
    }
}
