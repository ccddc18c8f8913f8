#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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

/// The functions of JavaScriptCore's C API that are needed, looked up in the system's library when the first script is run.
///
/// Nothing is linked, so that a program is built, and starts, where the library is missing. All of them are declared in
/// JavaScriptCore's public headers, as Apple asks of programs: ``ScriptWatch`` ends what takes too long.
@safe struct JavaScriptCore: @unchecked Sendable {
    // Unchecked: addresses of functions, which never change.

    /// A pointer to an object of the library.
    typealias Ref = OpaquePointer
    typealias Exception = UnsafeMutablePointer<Ref?>

    let makeGroup: @convention(c) () -> Ref?
    let releaseGroup: @convention(c) (Ref) -> Void
    let makeContext: @convention(c) (Ref, Ref?) -> Ref?
    let releaseContext: @convention(c) (Ref) -> Void
    let evaluate: @convention(c) (Ref, Ref, Ref?, Ref?, Int32, Exception?) -> Ref?
    let object: @convention(c) (Ref, Ref, Exception?) -> Ref?
    let call: @convention(c) (Ref, Ref, Ref?, Int, UnsafePointer<Ref?>?, Exception?) -> Ref?
    let protect: @convention(c) (Ref, Ref) -> Void
    let stringValue: @convention(c) (Ref, Ref) -> Ref?
    let copyString: @convention(c) (Ref, Ref, Exception?) -> Ref?
    let makeString: @convention(c) (UnsafePointer<CChar>) -> Ref?
    let maximumSize: @convention(c) (Ref) -> Int
    let getUTF8: @convention(c) (Ref, UnsafeMutablePointer<CChar>, Int) -> Int
    let releaseString: @convention(c) (Ref) -> Void

    /// Where systems have it: Apple's, then Debian's packages libjavascriptcoregtk-4.1-0, -6.0-1 and -4.0-18.
    private static let paths = [
        "/System/Library/Frameworks/JavaScriptCore.framework/JavaScriptCore",
        "libjavascriptcoregtk-4.1.so.0", "libjavascriptcoregtk-6.0.so.1", "libjavascriptcoregtk-4.0.so.18",
    ]

    /// The library; `nil` where there is none.
    static let system = try? JavaScriptCore()

    private init() throws(ScriptError) {
        guard
            let library = unsafe Self.paths.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL) })
                .first
        else { throw .noLibrary }
        func function<F>(_ name: String) throws(ScriptError) -> F {
            guard let address = unsafe dlsym(library, name) else { throw .noLibrary }
            return unsafe unsafeBitCast(address, to: F.self)
        }
        unsafe makeGroup = try function("JSContextGroupCreate")
        unsafe releaseGroup = try function("JSContextGroupRelease")
        unsafe makeContext = try function("JSGlobalContextCreateInGroup")
        unsafe releaseContext = try function("JSGlobalContextRelease")
        unsafe evaluate = try function("JSEvaluateScript")
        unsafe object = try function("JSValueToObject")
        unsafe call = try function("JSObjectCallAsFunction")
        unsafe protect = try function("JSValueProtect")
        unsafe stringValue = try function("JSValueMakeString")
        unsafe copyString = try function("JSValueToStringCopy")
        unsafe makeString = try function("JSStringCreateWithUTF8CString")
        unsafe maximumSize = try function("JSStringGetMaximumUTF8CStringSize")
        unsafe getUTF8 = try function("JSStringGetUTF8CString")
        unsafe releaseString = try function("JSStringRelease")
    }
}
