#include "textflag.h"

// func Get() uintptr
//
// Go's assembler knows one thread-local variable, g, and turns this load into what the operating system wants.
TEXT ·Get(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
