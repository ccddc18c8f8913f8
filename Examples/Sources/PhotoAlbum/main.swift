import Foundation
import Roost

// An album is filled, its key is changed, and its files are searched for what they must not show.

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("album-\(UUID()).roost")
defer { try? FileManager.default.removeItem(at: folder) }

/// A picture as PPM, the simplest of formats: a gradient.
func gradient(_ width: Int, _ height: Int) -> [UInt8] {
    var bytes = Array("P6 \(width) \(height) 255\n".utf8)
    for y in 0..<height { for x in 0..<width { bytes += [UInt8(x % 256), UInt8(y % 256), 128] } }
    return bytes
}

/// Whether any file of the album holds these bytes as they are.
func isVisible(_ bytes: some Collection<UInt8>) throws -> Bool {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return files.contains { name in
        let data = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
        return data?.range(of: Data(bytes)) != nil
    }
}

let album = try Album(folder.path, key: .passphrase("seven swifts in september"))
let picture = gradient(320, 200)
try album.add(
    picture, type: "image/x-portable-pixmap", caption: "Sky", taken: Date(timeIntervalSince1970: 2e9))
try album.add(
    gradient(16, 16), type: "image/x-portable-pixmap", caption: "Our gable",
    taken: Date(timeIntervalSince1970: 1e9))

let photos = try album.list()
for photo in photos { print(photo.taken.ISO8601Format(), photo.caption, photo.picture.length, "bytes") }
print("the same picture again:", try album.picture(photos[0]) == gradient(16, 16))
print("to be seen in the files:", try isVisible("gable".utf8) || isVisible(picture.prefix(64)))

try album.changeKey(to: .random())
try album.close()
do {
    _ = try Album(folder.path, key: .passphrase("seven swifts in september"))
} catch let error as DatabaseError {
    print("with the old key:", error.code)
}
