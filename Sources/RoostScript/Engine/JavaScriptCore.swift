#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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
