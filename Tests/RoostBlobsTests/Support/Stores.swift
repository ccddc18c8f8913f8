import RoostBlobs
import RoostCrypto
import RoostFile
import RoostSimulation

/// A blob store on a simulated disk.
struct TestStore {
    static let directory = "db/blobs"

    let simulation: Simulation
    let store: BlobStore
    var disk: SimulatedMedium { simulation.disk }

    init(_ layout: BlobLayout = .plain, seed: UInt64 = 1) throws {
        let simulation = Simulation(seed: seed)
        try simulation.disk.createDirectory("db")
        try simulation.disk.syncDirectory(of: "db")
        self.init(simulation, layout)
    }

    init(_ simulation: Simulation, _ layout: BlobLayout) {
        self.simulation = simulation
        store = BlobStore(Self.directory, layout, environment: simulation.environment)
    }

    /// The files that are under a blob's name.
    func names() throws -> [String] { try store.files().map(\.name).sorted() }

    func path(_ name: String) -> String { "\(Self.directory)/\(name)" }

    func contents(_ name: String) -> [UInt8] { disk.contents(of: path(name)) ?? [] }
}

extension BlobLayout {
    static let key = SymmetricKey(Array(0..<32))
    static let testSealed = BlobLayout.sealed(BlobKeys([key]))
    static let testCompatible = BlobLayout.couchbaseLite(CompatibleKey(key))
    static let testDocumented = BlobLayout.couchbaseLite(CompatibleKey(key, mixesNonce: true))
    static let all = [plain, testSealed, testCompatible, testDocumented]
}

extension BlobStore {
    /// Writes a blob in pieces of `step` bytes.
    @discardableResult
    func put(
        _ bytes: [UInt8], step: Int = 1 << 20, _ options: BlobWriteOptions = BlobWriteOptions()
    ) throws -> InstalledBlob {
        let writer = try BlobFileWriter(self, options)
        for start in stride(from: 0, to: bytes.count, by: step) {
            try writer.write(Array(bytes[start..<min(start + step, bytes.count)]))
        }
        return try writer.install()
    }

    func get(_ digest: BlobDigest) throws -> [UInt8]? { try open(digest)?.readAll() }
}

extension BlobFileReader {
    /// The bytes at `offset`.
    func read(_ count: Int, at offset: UInt64) throws -> [UInt8] {
        position = offset
        var bytes = [UInt8](repeating: 0, count: count)
        let done = unsafe try bytes.withUnsafeMutableBytes { unsafe try self.read(into: $0) }
        return Array(bytes.prefix(done))
    }
}

/// Bytes that compress badly and differ everywhere.
func content(_ count: Int, seed: UInt64 = 0) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

func blobDigest(_ bytes: [UInt8], _ algorithm: BlobDigest.Algorithm = .sha1) -> BlobDigest {
    unsafe bytes.withUnsafeBytes { unsafe BlobDigest(of: $0, algorithm) }
}

func code(_ body: () throws -> Void) -> BlobError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? BlobError)?.code
    }
}
