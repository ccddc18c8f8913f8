import Fleece

// Properties of any type that can be one: see ``DocumentValueConvertible``. Where a type can't be told from what is around,
// the subscripts that give a ``DocumentValue`` are meant.

extension MutableDocument {
    /// A property as a value of a certain type; `nil` when it is missing or of another kind. Assigning `nil` removes it.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The value that `path` leads to, of a certain type. Assigning makes the dictionaries on the way.
    public subscript<Value: DocumentValueConvertible>(path path: FleecePath) -> Value? {
        get { (self[path: path] as DocumentValue?).flatMap { Value($0) } }
        set { self[path: path] = newValue?.documentValue }
    }
}

extension DocumentValue? {
    /// The value of `key`, of a certain type, if this is a dictionary that has it. Assigning makes the dictionary, in place of
    /// whatever else is here; assigning `nil` removes the key.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The element at `index`, of a certain type, if this is an array that has it. Assigning works as with values.
    public subscript<Value: DocumentValueConvertible>(index: Int) -> Value? {
        get { (self[index] as DocumentValue?).flatMap { Value($0) } }
        set { self[index] = newValue?.documentValue }
    }
}

extension DocumentValue {
    /// The value of `key`, of a certain type, if this is a dictionary that has it. Assigning makes the dictionary, in place of
    /// whatever else is here; assigning `nil` removes the key.
    public subscript<Value: DocumentValueConvertible>(key: String) -> Value? {
        get { (self[key] as DocumentValue?).flatMap { Value($0) } }
        set { self[key] = newValue?.documentValue }
    }

    /// The element at `index`, of a certain type, if this is an array that has it. Assigning works as with values.
    public subscript<Value: DocumentValueConvertible>(index: Int) -> Value? {
        get { (self[index] as DocumentValue?).flatMap { Value($0) } }
        set { self[index] = newValue?.documentValue }
    }
}
