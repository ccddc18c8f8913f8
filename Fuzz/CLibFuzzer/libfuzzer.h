// The two calls of libFuzzer, which comes with the compiler, that the fuzzing program makes
// (compiler-rt/lib/fuzzer, FuzzerInterface.h).
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t largest);
