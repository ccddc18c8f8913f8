import CRoostPrefetch
import RoostBytes

extension ByteView {
    /// Has the processor fetch the first bytes, which will be read soon.
    package func prefetch() {
        guard let base = unsafe buffer.baseAddress else { return }
        for line in stride(from: 0, to: min(count, ByteView.fetched), by: ByteView.line) {
            unsafe roost_prefetch(base + line)
        }
    }

    /// Of a longer run the processor fetches the rest by itself once it is being read.
    private static let fetched = 512
    private static let line = 64
}
