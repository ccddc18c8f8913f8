import ChildProcesses
import Foundation

/// A Chromium without a window.
struct Browser {
    private let path: String

    /// The one that is installed, if any is.
    static var installed: Browser? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for name in ["chromium", "chromium-browser", "google-chrome"] {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return Browser(path: "\(folder)/\(name)")
            }
        }
        return nil
    }

    /// The attributes of the body once the page's scripts have run, in a window of `width` pixels, at least 500.
    func body(of file: String, fragment: String, width: Int) throws -> [String: String] {
        let profile = file + ".profile"
        defer { try? FileManager.default.removeItem(atPath: profile) }
        let command = [
            path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--window-size=\(width),900", "--user-data-dir=\(profile)", "--dump-dom",
            "\(URL(fileURLWithPath: file).absoluteString)#\(fragment)",
        ]
        let document = String(
            decoding: try ChildProcess.run(command, errors: .hidden).output, as: UTF8.self)
        guard let tag = document.firstMatch(of: /<body([^>]*)>/) else { return [:] }
        let attributes = tag.1.matches(of: /([a-z-]+)="([^"]*)"/).map { (String($0.1), String($0.2)) }
        return Dictionary(attributes, uniquingKeysWith: { $1 })
    }
}
