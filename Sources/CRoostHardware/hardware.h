// Prototypes of the functions that use the processor's instructions for cryptography. Their bodies are in Swift
// (RoostCrypto/Hardware); what Swift cannot say, and this header does, is which of the processor's features the
// compiler may use in a body.

#ifndef ROOST_HARDWARE_H
#define ROOST_HARDWARE_H

#define ROOST_STRING_(text) #text
#define ROOST_STRING(text) ROOST_STRING_(text)

// Declares a function twice: `name` gets its body in Swift and with it the features; `name_` is the same function for
// those who call it, who must not see the body's features.
#define ROOST_SWIFT_BODY(features, name, parameters)   \
    __attribute__((target(features))) void name parameters; \
    __attribute__((target(features))) void name##_ parameters __asm__(ROOST_STRING(__USER_LABEL_PREFIX__) #name);

#if defined(__x86_64__)
#include "intel.h"
#elif defined(__aarch64__)
#include "arm.h"
#endif

#endif
