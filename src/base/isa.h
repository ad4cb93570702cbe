/* The instruction sets that this processor has and this package has loops for: "avx512", "avx2", "neon", "plain". */
#ifndef GPUCOR_ISA_H
#define GPUCOR_ISA_H

/* Number k of them, from 0, the best first; NULL after the last. Any thread. */
const char *gcor_isa_at(int k);

/* The best one, or the one that the environment variable GPUCOR_CPU names; NULL: the processor lacks that one. */
const char *gcor_isa(void);

/* The result of the last gcor_isa(), for loops so short that reading the environment would show. Any thread. */
const char *gcor_isa_last(void);

/* All of their names, the best first, in quotes, for messages. */
const char *gcor_isa_names(void);

#endif
