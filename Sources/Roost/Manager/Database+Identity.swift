import RoostStorage

extension Database {
    /// Gives the database new random names, as a copy needs that is to be a database of its own. This handle goes on telling
    /// the old ones: open it anew.
    func renewIdentity() throws(DatabaseError) {
        try checkWritable()
        let store = core.store
        let catalog = core.catalog
        try translating { () throws(StoreError) in
            let transaction = try store.beginWriting()
            defer { transaction.rollback() }
            guard let bytes = try transaction[catalog].value(Catalog.database),
                var record = try? DatabaseRecord(bytes)
            else { return }
            record.privateUUID = UUIDText.random(core.environment)
            record.publicUUID = UUIDText.random(core.environment)
            try transaction.put(Catalog.database, record.encoded, in: catalog)
            _ = try transaction.commit()
        }
    }
}
