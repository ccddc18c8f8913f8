/// A function of a design document in a world of its own: no other function sees what it does to its globals. Belongs to one thread at a
/// time.
@safe final class ScriptContext {
    private let library: JavaScriptCore
    private let limits: ScriptLimits
    private let group: OpaquePointer
    private let context: OpaquePointer
    /// The function of the prelude that takes requests.
    private let entry: OpaquePointer

    /// - Throws: ``ScriptError/noLibrary``.
    init(_ limits: ScriptLimits) throws(ScriptError) {
        guard let library = JavaScriptCore.system, let group = unsafe library.makeGroup() else {
            throw .noLibrary
        }
        guard let context = unsafe library.makeContext(group, nil) else {
            unsafe library.releaseGroup(group)
            throw .noLibrary
        }
        self.library = library
        self.limits = limits
        unsafe self.group = group
        unsafe self.context = context
        guard let script = unsafe library.makeString(ScriptPrelude.source),
            let value = unsafe library.evaluate(context, script, nil, nil, 1, nil),
            let entry = unsafe library.object(context, value, nil)
        else {
            unsafe library.releaseContext(context)
            unsafe library.releaseGroup(group)
            throw .broken("does not take its first script")
        }
        unsafe library.releaseString(script)
        unsafe library.protect(context, entry)
        unsafe self.entry = entry
    }

    deinit {
        unsafe library.releaseContext(context)
        unsafe library.releaseGroup(group)
    }

    /// Answers a request: see ``ScriptPrelude/source``.
    ///
    /// - Parameter request: JSON text without a zero byte.
    /// - Throws: ``ScriptError`` when the answer is too long or the function was ended. The context may be called again.
    func respond(to request: [UInt8]) throws(ScriptError) -> [UInt8] {
        let text = request + [0]
        guard
            let string = unsafe text.withUnsafeBufferPointer({ bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe library.makeString($0.baseAddress!) }
            })
        else { throw .broken("has no memory for a request") }
        defer { unsafe library.releaseString(string) }
        var exception: OpaquePointer?
        var arguments = unsafe [library.stringValue(context, string)]
        let value = unsafe library.call(context, entry, nil, 1, &arguments, &exception)
        guard let value = unsafe value, unsafe exception == nil else {
            throw .thrown("The function was ended.")
        }
        return try unsafe answer(value)
    }

    private func answer(_ value: OpaquePointer) throws(ScriptError) -> [UInt8] {
        guard let string = unsafe library.copyString(context, value, nil) else {
            throw .thrown("The function answered nothing.")
        }
        defer { unsafe library.releaseString(string) }
        let size = unsafe library.maximumSize(string)
        // Up to three bytes are counted for each character.
        guard size / 3 <= limits.answer else { throw .tooLargeAnswer(bytes: limits.answer) }
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let written = unsafe buffer.withMemoryRebound(to: CChar.self) {
                unsafe library.getUTF8(string, $0.baseAddress!, size)
            }
            // Without the zero byte at the end.
            count = max(written - 1, 0)
        }
    }
}
