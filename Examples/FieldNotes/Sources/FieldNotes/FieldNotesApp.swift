#if canImport(SwiftUI)
    import FieldNotesModel
    import SwiftUI

    @main
    struct FieldNotesApp: App {
        @State private var model: Result<JournalModel, any Error>

        init() {
            let path = URL.applicationSupportDirectory.appending(path: "FieldNotes.roost").path()
            model = Result { JournalModel(try Journal(path: path)) }
        }

        var body: some Scene {
            WindowGroup {
                switch model {
                case .success(let model): SightingsView(model: model)
                case .failure(let error):
                    ContentUnavailableView(
                        "The journal can't be opened", systemImage: "exclamationmark.triangle",
                        description: Text(error.localizedDescription))
                }
            }
        }
    }
#else
    /// Where there is no SwiftUI, the package builds, and its model is tested.
    @main
    enum FieldNotesApp {
        static func main() { print("FieldNotes needs SwiftUI. Its model is tested here: swift test") }
    }
#endif
