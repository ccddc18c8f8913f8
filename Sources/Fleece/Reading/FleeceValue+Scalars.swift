extension FleeceValue {
    /// The truth value; `nil` for any other kind.
    public var bool: Bool? {
        let header = header
        guard header.tag == .special else { return nil }
        switch header.special {
        case .true: return true
        case .false: return false
        default: return nil
        }
    }

    /// The number as an `Int`; `nil` if it is not whole, out of range, or no number.
    public var int: Int? { integer(Int.self) }

    /// The number as an `Int64`; `nil` if it is not whole, out of range, or no number.
    public var int64: Int64? { integer(Int64.self) }

    /// The number as a `UInt64`; `nil` if it is negative, not whole, out of range, or no number.
    public var uint64: UInt64? { integer(UInt64.self) }

    /// The number as a `Double`, for integers beyond 2⁵³ the nearest; `nil` if this is no number.
    public var double: Double? {
        document.read { view in
            switch view.header(at: offset).tag {
            case .float:
                return view.double(at: offset)
            case .smallInteger, .integer:
                return switch view.integer(at: offset) {
                case .signed(let value): Double(value)
                case .unsigned(let value): Double(value)
                }
            default:
                return nil
            }
        }
    }

    /// The string; `nil` for any other kind. Copies it.
    public var string: String? {
        unsafe withBytes(.string) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of data; `nil` for any other kind. Copies them.
    public var data: [UInt8]? {
        unsafe withBytes(.data) { unsafe [UInt8]($0) }
    }

    /// The number as any integer type; `nil` if it does not fit or is no number.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        document.read { view in
            switch view.header(at: offset).tag {
            case .smallInteger, .integer:
                return switch view.integer(at: offset) {
                case .signed(let value): T(exactly: value)
                case .unsigned(let value): T(exactly: value)
                }
            case .float:
                return T(exactly: view.double(at: offset))
            default:
                return nil
            }
        }
    }

    /// Calls `body` with the bytes of a string or of data; `nil` if the value has another tag.
    @inline(__always)
    func withBytes<R>(_ tag: Header.Tag, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        document.read { view in
            guard view.header(at: offset).tag == tag, let content = view.content(at: offset) else {
                return nil
            }
            return unsafe body(view.buffer(content))
        }
    }
}
