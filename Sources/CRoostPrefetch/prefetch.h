// The processor's instruction for what Swift can't say: that memory will be read soon.

static inline __attribute__((always_inline)) void roost_prefetch(const void *address) { __builtin_prefetch(address); }
