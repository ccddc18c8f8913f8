#if canImport(SwiftUI) && canImport(PhotosUI)
    import FieldNotesModel
    import PhotosUI
    import Roost
    import SwiftUI

    /// What the editor is about: a sighting that was read, or a new one.
    struct EditedSighting: Identifiable {
        let id: String
        var stored: Versioned<Sighting>?
        var sighting: Sighting

        init(_ stored: Versioned<Sighting>) {
            (id, self.stored, sighting) = (stored.id, stored, stored.value)
        }

        init() {
            sighting = Sighting(species: "", date: .now)
            id = sighting.id
        }
    }

    struct SightingEditor: View {
        let model: JournalModel
        @State var edited: EditedSighting
        @State private var picked: PhotosPickerItem?
        @State private var photo: Data?
        @Environment(\.dismiss) private var dismiss

        var body: some View {
            NavigationStack {
                Form {
                    TextField("Species", text: $edited.sighting.species)
                    Stepper("Count: \(edited.sighting.count)", value: $edited.sighting.count, in: 1...9999)
                    DatePicker("Date", selection: $edited.sighting.date)
                    TextField("Note", text: $edited.sighting.note, axis: .vertical)
                    PhotosPicker("Photo", selection: $picked, matching: .images)
                    if let photo { PhotoView(data: photo) }
                    if edited.stored != nil {
                        Button("Undo the last edit") {
                            let id = edited.id
                            model.attempt { try await $0.undo(id) }
                            dismiss()
                        }
                    }
                }
                .navigationTitle(edited.stored == nil ? "New sighting" : "Sighting")
                .toolbar {
                    ToolbarItem(placement: .cancellationAction) { Button("Cancel") { dismiss() } }
                    ToolbarItem(placement: .confirmationAction) {
                        Button("Save", action: save).disabled(edited.sighting.species.isEmpty)
                    }
                }
            }
            .task { photo = try? await model.journal.photo(of: edited.id) }
            .task(id: picked) {
                if let picked { photo = try? await picked.loadTransferable(type: Data.self) }
            }
        }

        private func save() {
            let (edited, photo) = (edited, picked == nil ? nil : photo)
            model.attempt { journal in
                guard var stored = edited.stored else {
                    try await journal.add(edited.sighting, photo: photo)
                    return
                }
                stored.value = edited.sighting
                try await journal.save(&stored)
                if let photo { try await journal.setPhoto(photo, of: stored.id) }
            }
            dismiss()
        }
    }

    struct PhotoView: View {
        let data: Data

        var body: some View {
            #if canImport(UIKit)
                if let image = UIImage(data: data) { Image(uiImage: image).resizable().scaledToFit() }
            #elseif canImport(AppKit)
                if let image = NSImage(data: data) { Image(nsImage: image).resizable().scaledToFit() }
            #endif
        }
    }

    struct SyncSettings: View {
        let model: JournalModel
        @AppStorage("server") private var server = "https://"
        @AppStorage("user") private var user = ""
        // A real app keeps it in the keychain.
        @State private var password = ""
        @Environment(\.dismiss) private var dismiss

        var body: some View {
            NavigationStack {
                Form {
                    TextField("Database", text: $server)
                    TextField("User", text: $user)
                    SecureField("Password", text: $password)
                    Text(model.syncText).foregroundStyle(.secondary)
                    Button("Stop syncing", role: .destructive) { model.stopSync() }
                }
                .navigationTitle("Sync")
                .toolbar {
                    ToolbarItem(placement: .cancellationAction) { Button("Close") { dismiss() } }
                    ToolbarItem(placement: .confirmationAction) {
                        Button("Sync") {
                            if let url = URL(string: server) {
                                model.sync(with: url, user: user, password: password)
                            }
                            dismiss()
                        }
                    }
                }
            }
        }
    }
#endif
