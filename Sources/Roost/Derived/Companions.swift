import Synchronization

/// What modules above keep for each open database, one object of a type, shared by all its handles.
final class Companions: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// The object of type `T`, made when it is first asked for.
    func object<T: AnyObject & Sendable>(_ make: () -> T) -> T {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(T.self)] as? T { return object }
            let object = make()
            objects[ObjectIdentifier(T.self)] = object
            return object
        }
    }

    func removeAll() {
        let all = objects.withLock { objects in
            defer { objects.removeAll() }
            return objects
        }
        withExtendedLifetime(all) {}
    }
}

extension Database {
    /// The one object of type `T` that goes with this database while it is open, made by `make` when it is first asked for.
    ///
    /// It must not keep the database, which keeps it until the last handle is closed.
    package func companion<T: AnyObject & Sendable>(_ make: () -> T) -> T { core.companions.object(make) }

    /// The stores for what is derived from the documents.
    package var auxiliaryStores: AuxiliaryStores { core.auxiliaryStores }
}
