// The executable's definitions of these calls take precedence over libc's for every shared library it loads,
// so that all contenders are counted alike, at the price of one relaxed addition per call. Bytes stored
// through writable mappings are not seen (of the contenders only SQLite's -shm file is written that way).

#define _GNU_SOURCE
#include "WriteCounters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_ullong bytes, syncs;

enum { trackedDescriptors = 4096 };
static atomic_uchar isSynchronous[trackedDescriptors];

WriteCounters writeCountersNow(void) {
    return (WriteCounters){
        .bytes = atomic_load_explicit(&bytes, memory_order_relaxed),
        .syncs = atomic_load_explicit(&syncs, memory_order_relaxed),
    };
}

static void add(atomic_ullong *counter, unsigned long long amount) {
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static ssize_t countedWrite(int descriptor, ssize_t result) {
    if (result < 0) return result;
    add(&bytes, (unsigned long long)result);
    if (descriptor < trackedDescriptors && atomic_load_explicit(&isSynchronous[descriptor], memory_order_relaxed))
        add(&syncs, 1);
    return result;
}

ssize_t write(int descriptor, const void *from, size_t count) {
    return countedWrite(descriptor, syscall(SYS_write, descriptor, from, count));
}

ssize_t pwrite64(int descriptor, const void *from, size_t count, off64_t offset) {
    return countedWrite(descriptor, syscall(SYS_pwrite64, descriptor, from, count, offset));
}

ssize_t pwrite(int descriptor, const void *from, size_t count, off_t offset) {
    return pwrite64(descriptor, from, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    return countedWrite(descriptor, syscall(SYS_writev, descriptor, parts, count));
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
    return countedWrite(descriptor, syscall(SYS_pwritev, descriptor, parts, count, offset, 0L));
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    return pwritev64(descriptor, parts, count, offset);
}

ssize_t copy_file_range(
    int from, off64_t *fromOffset, int to, off64_t *toOffset, size_t count, unsigned int flags
) {
    return countedWrite(to, syscall(SYS_copy_file_range, from, fromOffset, to, toOffset, count, flags));
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) {
    return countedWrite(to, syscall(SYS_sendfile, to, from, offset, count));
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    return sendfile64(to, from, offset, count);
}

int fsync(int descriptor) {
    add(&syncs, 1);
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    add(&syncs, 1);
    return (int)syscall(SYS_fdatasync, descriptor);
}

int msync(void *start, size_t count, int flags) {
    if (flags & MS_SYNC) add(&syncs, 1);
    return (int)syscall(SYS_msync, start, count, flags);
}

static int opened(int descriptor, int flags) {
    if (descriptor >= 0 && descriptor < trackedDescriptors)
        atomic_store_explicit(&isSynchronous[descriptor], (flags & (O_SYNC | O_DSYNC)) != 0, memory_order_relaxed);
    return descriptor;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), flags);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open64(path, flags, mode);
}
