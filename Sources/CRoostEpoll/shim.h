// What Swift's own modules of the C library leave out.

#include <sys/epoll.h>
#include <sys/eventfd.h>
