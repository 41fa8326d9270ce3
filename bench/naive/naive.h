#ifndef UVASYNC_BENCH_NAIVE_H
#define UVASYNC_BENCH_NAIVE_H

#include <stdint.h>

typedef struct naive naive;

int naive_open(uint32_t timers, naive** out);
int naive_start(naive* n, uint32_t timer, uint64_t ms);
void naive_turn(naive* n);
int naive_close(naive* n);

#endif
