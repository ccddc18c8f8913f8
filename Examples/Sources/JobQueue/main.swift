import Foundation

// Three jobs and a worker that dies with one of them.

let path = FileManager.default.temporaryDirectory.appendingPathComponent("jobs-\(UUID()).roost").path
defer { try? FileManager.default.removeItem(atPath: path) }

var queue = try JobQueue(path)
for payload in ["resize 1.jpg", "resize 2.jpg", "send mail"] { try queue.add(payload) }

let first = try queue.take(now: 0, until: 60)!
print("done:", first.payload, try queue.finish(first, takenUntil: 60))
let second = try queue.take(now: 1, until: 61)!
print("the worker dies during:", second.payload)
try queue.close()

queue = try JobQueue(path)
print("after the start:", try queue.counts())
while let job = try queue.take(now: 100, until: 160) {
    print("done:", job.payload, try queue.finish(job, takenUntil: 160))
}
print("too late:", try queue.finish(second, takenUntil: 61))
print("at the end:", try queue.counts())
try queue.close()
