#if canImport(SwiftUI)
    import FieldNotesModel
    import Roost
    import SwiftUI

    /// The list with its search field, and a line that tells of the sync.
    struct SightingsView: View {
        @Bindable var model: JournalModel
        @State private var edited: EditedSighting?
        @State private var isSettingUpSync = false

        var body: some View {
            NavigationStack {
                List {
                    ForEach(model.sightings) { sighting in
                        Button {
                            edited = EditedSighting(sighting)
                        } label: {
                            SightingRow(sighting: sighting.value)
                        }
                        .buttonStyle(.plain)
                        .swipeActions {
                            Button("Delete", role: .destructive) {
                                model.attempt { try await $0.delete(sighting) }
                            }
                        }
                        .onAppear {
                            if sighting.id == model.sightings.last?.id { model.showMore() }
                        }
                    }
                }
                .overlay {
                    if model.sightings.isEmpty {
                        if model.searched.isEmpty {
                            ContentUnavailableView("No sightings yet", systemImage: "bird")
                        } else {
                            ContentUnavailableView.search(text: model.searched)
                        }
                    }
                }
                .searchable(text: $model.searched)
                .navigationTitle("Field notes")
                .toolbar {
                    Button("Add", systemImage: "plus") { edited = EditedSighting() }
                    Button("Sync", systemImage: "arrow.triangle.2.circlepath") { isSettingUpSync = true }
                }
                .safeAreaInset(edge: .bottom) {
                    Text(model.syncText).font(.footnote).foregroundStyle(.secondary).padding(6)
                }
            }
            .sheet(item: $edited) { SightingEditor(model: model, edited: $0) }
            .sheet(isPresented: $isSettingUpSync) { SyncSettings(model: model) }
            .alert(
                "That did not work",
                isPresented: Binding {
                    model.failure != nil
                } set: { _ in
                    model.failure = nil
                }
            ) {
            } message: {
                Text(model.failure ?? "")
            }
        }
    }

    struct SightingRow: View {
        let sighting: Sighting

        var body: some View {
            VStack(alignment: .leading) {
                HStack {
                    Text(sighting.species).font(.headline)
                    if sighting.count > 1 { Text("× \(sighting.count)").foregroundStyle(.secondary) }
                    Spacer()
                    if sighting.hasPhoto == true {
                        Image(systemName: "photo").accessibilityLabel("has a photo")
                    }
                }
                Text(sighting.date, format: .dateTime).font(.caption).foregroundStyle(.secondary)
                if !sighting.note.isEmpty { Text(sighting.note).lineLimit(2) }
            }
        }
    }

    #Preview {
        let journal = try! Journal(Database.inMemory())
        let model = JournalModel(journal)
        model.attempt {
            try await $0.add(Sighting(species: "Common swift", note: "Over the roofs", date: .now, count: 12))
        }
        return SightingsView(model: model)
    }
#endif
