import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads what nobody should see, neither on the screen nor in the list of processes.
enum Secret {
    static func read(_ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
        FileHandle.standardError.write(Data(prompt.utf8))
        var old = termios()
        tcgetattr(STDIN_FILENO, &old)
        var silent = old
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &old)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine() ?? ""
    }
}
