import RoostBytes

/// Gives every value that entries share exactly one owner again, after some of the entries were lost.
struct SharingRepair {
    private let store: Store
    private let state: StoreState

    /// See ``SalvageTarget``.
    private static let ownersName = "\u{1}owners of values"

    /// What is known of a value, in a tree by where the value stands.
    private enum Known {
        static let owned: [UInt8] = [1]
        /// The identifier and the key of an entry that borrows it follow.
        static let borrowed: UInt8 = 2
    }

    init(_ store: Store) {
        self.store = store
        state = store.state
    }

    func run() throws(StoreError) {
        let transaction = try store.beginWriting()
        defer { transaction.rollback() }
        let owners = try transaction.tree(SharingRepair.ownersName)
        for version in state.trees {
            let tree = Tree(id: version.id, name: version.name)
            try forEachShared(version) { (key, entry) throws(StoreError) in
                try note(key, entry, tree, owners, transaction)
            }
        }
        try adopt(owners, transaction)
        try transaction.drop(owners)
        try transaction.commit()
    }

    private func forEachShared(
        _ version: TreeVersion, _ body: ([UInt8], Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        let reader = TreeReader(file: state.file, root: version.root, reduction: nil)
        let image = LeafImage()
        var target: LeafTarget? = .first
        while let place = try target.map({ (target) throws(StoreError) in
            try reader.locate(target, into: image)
        }) {
            let page = image.page
            for index in 0..<page.count {
                let entry = try state.file.reading(.nowhere) {
                    () throws(MalformedBytes) in try page.entry(index)
                }
                if entry.kind == .shared || entry.kind == .borrowed { try body(page.key(index), entry) }
            }
            target = place.upper.map { .key($0) }
        }
    }

    private func note(
        _ key: [UInt8], _ entry: Entry, _ tree: Tree, _ owners: Tree, _ transaction: StoreTransaction
    ) throws(StoreError) {
        let place = Key(entry.chunk.offset)
        let known = try transaction[owners, place]
        guard entry.kind == .shared else {
            if known == nil {
                try transaction.put(place, [Known.borrowed] + Key(tree.id).bytes + key, in: owners)
            }
            return
        }
        if known == Known.owned {
            try key.withView { (key) throws(StoreError) in
                try transaction.put(
                    key, inline: entry.inline, value: ValueReference(chunk: entry.chunk), owns: false,
                    in: tree)
            }
        } else {
            try transaction.put(place, Known.owned, in: owners)
        }
    }

    /// Makes an entry that borrows a value without owner its owner.
    private func adopt(_ owners: Tree, _ transaction: StoreTransaction) throws(StoreError) {
        let cursor = try transaction[owners].cursor()
        while try cursor.next() {
            let known = try cursor.value()
            guard known.first == Known.borrowed, let id = Key(Array(known[1..<9])).number,
                let version = state.trees[id]
            else { continue }
            let tree = Tree(id: id, name: version.name)
            let inline = try known[9...].map { $0 }.withView { (key) throws(StoreError) in
                try transaction.withEntry(key, in: tree) { inline, value in (inline.array, value) }
            }
            guard let (bytes, value) = inline, let value else { continue }
            try Array(known[9...]).withView { (key) throws(StoreError) in
                try bytes.withView { (inline) throws(StoreError) in
                    try transaction.put(key, inline: inline, value: value, owns: true, in: tree)
                }
            }
        }
    }
}
