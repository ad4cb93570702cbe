/* Instruction sets that this package has loops for. Each level has the instructions of the levels below it, too. */
#pragma once

enum { GCOR_PLAIN, GCOR_AVX2, GCOR_AVX512, GCOR_NEON = 1 };

/* Returns the level to use: this processor's highest, or the one that the environment variable GPUCOR_CPU named when
 * gcor_isa_choose() was called; GCOR_PLAIN if the processor lacks that one. Any thread. */
int gcor_isa(void);
/* Reads the variable; gcor_watch() calls it at the beginning of every call. Returns the level. */
int gcor_isa_choose(void);

/* Returns the name of a level: "plain", "avx2", "avx512", "neon"; NULL above the processor's highest. Any thread. */
const char *gcor_isa_name(int level);
