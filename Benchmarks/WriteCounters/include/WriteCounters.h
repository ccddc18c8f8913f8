#ifndef ROOST_WRITE_COUNTERS_H
#define ROOST_WRITE_COUNTERS_H

#include <stdint.h>

/// What this process has asked the operating system to write since it started, by any thread and any library.
typedef struct {
    /// Bytes passed to write calls that succeeded, and copied by copy_file_range and sendfile.
    uint64_t bytes;
    /// Waits for the medium: fsync, fdatasync, msync(MS_SYNC), and writes through a descriptor opened with
    /// O_SYNC or O_DSYNC.
    uint64_t syncs;
} WriteCounters;

/// The counters now. Any thread may call it.
WriteCounters writeCountersNow(void);

#endif
