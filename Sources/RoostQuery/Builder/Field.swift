import Fleece
import Foundation
import Roost

/// A property of documents in a typed query: `$0.stars`, `$0.address.city`.
///
/// Compared with values it makes a ``QueryCondition``. What it stands for is known by its type only; documents that have
/// something else there, or nothing, don't match.
///
/// A property is looked for under the name that its type's `CodingKeys` have for it, if these are `CaseIterable`:
/// `enum CodingKeys: String, CodingKey, CaseIterable`. Where they are not, and have another name for it than the program, the query throws
/// `invalidQuery`; such a property can also be asked for with ``named(_:as:)``.
@dynamicMemberLookup
public struct QueryField<Value>: Sendable {
    let expression: Expression
    /// Why there is no such property in documents.
    let problem: QueryError?

    init(_ expression: Expression, _ problem: QueryError? = nil) {
        self.expression = expression
        self.problem = problem
    }

    /// A property of the value here.
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> QueryField<Member> {
        step("\(member)", in: Value.self, isIdentifiable: Value.self is any Identifiable.Type)
    }

    /// A property of the value here, if there is one.
    public subscript<Wrapped, Member>(dynamicMember member: KeyPath<Wrapped, Member>) -> QueryField<Member>
    where Value == Wrapped? {
        step("\(member)", in: Wrapped.self, isIdentifiable: false)
    }

    /// A property under the name that it has in documents.
    public func named<Member>(_ name: String, as type: Member.Type = Member.self) -> QueryField<Member> {
        QueryField<Member>(expression.appending(.key(name)), problem)
    }

    /// The step to a property that a key path's description, `\Note.title`, names.
    func step<Member>(_ description: String, in type: Any.Type, isIdentifiable: Bool) -> QueryField<Member> {
        let start = "\\\(type)."
        let name = description.hasPrefix(start) ? String(description.dropFirst(start.count)) : ""
        guard !name.contains(".") || name.hasPrefix("<") else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) leads over several properties, whose names are not all known. Name one after the other, in a closure: "
                        + "{ $0.\(name) }"))
        }
        guard let first = name.utf8.first, first != UInt8(ascii: "<") else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) is no stored property, so that documents don't have it. Name what they have with "
                        + "named(_:as:)"))
        }
        if isIdentifiable, name == "id", case .path([], let place) = expression {
            return QueryField<Member>(.meta(.id, alias: nil, place), problem)
        }
        guard case .known(let coded) = CodedNames.name(of: name, in: type) else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) is coded under another name, which its type's CodingKeys have. Make these CaseIterable, or give "
                        + "the name: named(\"…\", as: \(Member.self).self)"))
        }
        return QueryField<Member>(expression.appending(.key(coded)), problem)
    }
}

extension Expression {
    fileprivate func appending(_ step: Step) -> Expression {
        switch self {
        case .path(let steps, let place): .path(steps + [step], place)
        case .variable(let name, let steps, let place): .variable(name, steps + [step], place)
        default: .member(self, [step])
        }
    }
}

/// A type whose values have an order in queries: `$0.stars > 3`.
///
/// Numbers, texts, dates and optionals of them are. An enumeration is when it says so, and is ordered by its raw values:
/// `extension Size: QueryComparable {}`. To be compared with `==` a value needs only be `Encodable`.
public protocol QueryComparable: Sendable {
    /// The value as documents have it.
    var queryValue: DocumentValue { get }
}

extension QueryComparable where Self: RawRepresentable, RawValue: QueryComparable {
    /// The raw value.
    public var queryValue: DocumentValue { rawValue.queryValue }
}

extension QueryComparable where Self: DocumentValueConvertible {
    /// The value as a property has it.
    public var queryValue: DocumentValue { documentValue }
}

extension Encodable {
    /// The value as documents have it, or why it can't be one.
    var codedValue: Result<DocumentValue, QueryError> {
        if let value = self as? any QueryComparable { return .success(value.queryValue) }
        do {
            let body = try FleeceDocument(trusting: FleeceEncoder().encode(self))
            return .success(try FleeceDecoder().decode(DocumentValue.self, from: body.root))
        } catch {
            return .failure(QueryError("\(self) can't be compared with properties. \(error.sentence)"))
        }
    }
}

extension Float: QueryComparable {}
extension Int8: QueryComparable {}
extension Int16: QueryComparable {}
extension Int32: QueryComparable {}
extension UInt: QueryComparable {}
extension UInt8: QueryComparable {}
extension UInt16: QueryComparable {}
extension UInt32: QueryComparable {}
extension Decimal: QueryComparable {}
extension URL: QueryComparable {}

extension Int: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .integer(Int64(self)) }
}

extension Int64: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .integer(self) }
}

extension UInt64: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .unsigned(self) }
}

extension Double: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .double(self) }
}

extension Bool: QueryComparable {
    /// The truth value.
    public var queryValue: DocumentValue { .bool(self) }
}

extension String: QueryComparable {
    /// The text.
    public var queryValue: DocumentValue { .string(self) }
}

extension UUID: QueryComparable {
    /// The text of the UUID, as it is coded.
    public var queryValue: DocumentValue { .string(uuidString) }
}

extension Date: QueryComparable {
    /// The date as text, as it is coded; texts of dates are ordered as the dates are.
    public var queryValue: DocumentValue {
        var value: DocumentValue? = nil
        value.date = self
        return value ?? .null
    }
}

extension Optional: QueryComparable where Wrapped: QueryComparable {
    /// The value, or null.
    public var queryValue: DocumentValue { self?.queryValue ?? .null }
}
