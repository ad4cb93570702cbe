#include "call.h"

#include "../base/alloc.h"
#include "../base/os.h"
#include "../base/triangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

SEXP r_element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(names); k++)
        if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0) return VECTOR_ELT(list, k);
    r_error("element '%s' is missing", name);
}

double *r_new_doubles(SEXP list, int k, R_xlen_t length) {
    SEXP values = Rf_allocVector(REALSXP, length);
    SET_VECTOR_ELT(list, k, values);
    gcor_huge_pages(REAL(values), (size_t)length * sizeof(double));
    return REAL(values);
}

const SEXP *r_arguments(SEXP list, int n) {
    SEXP *own = (SEXP *)R_alloc((size_t)n, sizeof *own);
    if (Rf_xlength(list) != n) r_error("there must be %d arguments, not %.0f", n, (double)Rf_xlength(list));
    for (int k = 0; k < n; k++) own[k] = VECTOR_ELT(list, k);
    return own;
}

/* INTEGER() is a function of R, which is not called for each of what may be hundreds of millions of entries. */
void r_check_compressed(SEXP p, SEXP i, SEXP x, int64_t n) {
    const R_xlen_t columns = Rf_xlength(p) - 1, entries = Rf_xlength(i);
    int sound = TYPEOF(p) == INTSXP && TYPEOF(i) == INTSXP && columns >= 0 &&
                (!x || (TYPEOF(x) == REALSXP && Rf_xlength(x) == entries));
    const int *start = sound ? INTEGER_RO(p) : NULL, *row = sound ? INTEGER_RO(i) : NULL;
    sound = sound && start[0] == 0 && start[columns] == entries;
    for (R_xlen_t j = 0; sound && j < columns; j++) sound = start[j] <= start[j + 1];
    for (R_xlen_t e = 0; sound && e < entries; e++) sound = row[e] >= 0 && row[e] < n;
    if (!sound) r_error("the slots p, i and x of a sparse matrix do not belong together; make the matrix again");
}

void r_set_attributes(SEXP values, SEXP attributes, SEXP n_obs, SEXP diagonal) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++) {
        const char *name = CHAR(STRING_ELT(names, k));
        SEXP value = VECTOR_ELT(attributes, k);
        if (n_obs && strcmp(name, "n_obs") == 0) value = n_obs;
        if (diagonal && strcmp(name, "diagonal") == 0) value = diagonal;
        Rf_setAttrib(values, Rf_installTrChar(STRING_ELT(names, k)), value);
    }
}

/* ---- external pointers: the tag points to release() --------------------------------------- */

static int64_t n_owners;

static void finalize(SEXP pointer) {
    void *address = R_ExternalPtrAddr(pointer);
    if (address) {
        void (*release)(void *) = (void (*)(void *))(void (*)(void))R_ExternalPtrAddrFn(R_ExternalPtrTag(pointer));
        release(address);
    }
    R_ClearExternalPtr(pointer);
}

static void collect(SEXP pointer) {
    finalize(pointer);
    n_owners--;
}

void r_own(SEXP pointer, void (*release)(void *), Rboolean at_exit) {
    R_SetExternalPtrTag(pointer, R_MakeExternalPtrFn((DL_FUNC)(void (*)(void))release, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, collect, at_exit);
    n_owners++;
}

SEXP r_new_owner(void (*release)(void *), Rboolean at_exit) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    r_own(pointer, release, at_exit);
    UNPROTECT(1);
    return pointer;
}

/* Frees what an owner's pointer owns before R collects it. */
SEXP r_free(SEXP pointer) {
    finalize(pointer);
    return R_NilValue;
}

/* ---- calls of R, and errors ------------------------------------------------------------------ */

SEXP r_eval(SEXP call) {
    SEXP name = PROTECT(Rf_mkString("gpucor")), find = PROTECT(Rf_lang2(Rf_install("getNamespace"), name));
    SEXP value = Rf_eval(call, PROTECT(Rf_eval(find, R_BaseEnv)));
    UNPROTECT(3);
    return value;
}

SEXP r_failure(const gcor_error *error) {
    const char *names[] = {"status", "message", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(error->status));
    SET_VECTOR_ELT(result, 1, Rf_mkString(error->message));
    UNPROTECT(1);
    return result;
}

void r_raise(const gcor_error *error) {
    SEXP failure = PROTECT(r_failure(error)), call = PROTECT(Rf_lang2(Rf_install("checked"), failure));
    (void)r_eval(call);
    Rf_error("%s", error->message); /* not reached */
}

void r_error(const char *format, ...) {
    gcor_error error = {.status = GCOR_BAD_INPUT};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    r_raise(&error);
}

/* ---- the run and its place ---------------------------------------------------------------------- */

#define ELEMENT_OF_RUN(name) .name = r_element(run, #name),
r_run_elements r_run_of(SEXP run) {
    return (r_run_elements){R_RUN_ELEMENTS(ELEMENT_OF_RUN)};
}

#define ELEMENT_OF_PLACE(name) .name = r_element(place, #name),
r_place r_place_of(SEXP place) {
    return (r_place){R_PLACE_ELEMENTS(ELEMENT_OF_PLACE)};
}

void r_call_parse(r_call *call, SEXP place) {
    const r_place own = r_place_of(place);
    double interval = Rf_asReal(own.progress);
    r_monitor(&call->monitor, &call->progress, interval > 0 ? place : NULL, interval);
    call->context = (gcor_context){
        .threads = r_threads(own.threads),
        .memory = (int64_t)Rf_asReal(own.memory),
        .monitor = &call->monitor,
    };
}

void r_quiet_call_parse(r_call *call, SEXP place) {
    r_call_parse(call, place);
    call->progress.place = NULL;
}

void r_plain_call_parse(r_call *call, SEXP threads) {
    r_monitor(&call->monitor, &call->progress, NULL, 0);
    call->context = (gcor_context){.threads = r_threads(threads), .monitor = &call->monitor};
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* The number of threads that a call may use. The hops of R's setting `threads`:
 *   r_run() (job.c) or another entry -> r_call_parse() (call.c), which stores the result of r_threads() in
 * context->threads -> gcor_run() -> gcor_distribute() (engine/devices.c), which divides the threads
 * among workers if there are several devices -> start() (there): the worker's context -> the back
 * end's begin() -> gcor_for_each() (base/threads.h).
 *
 * Children of fork() may use one: parallel::mclapply() forks R. */

static int is_forked = 0;

static void note_fork(void) {
    is_forked = 1;
}

void r_watch_forks(void) {
    gcor_os_at_fork(NULL, NULL, note_fork);
}

/* Fewer threads than wanted where the process may take little more memory (ulimit -v), as each takes some, for its
 * stack and for what it works on. Asked again only for more threads. */
static int affordable_threads(int wanted) {
    const int64_t thread_bytes = 16 << 20;
    static int known = 1;
    if (wanted <= known) return wanted;
    known = (int)gcor_clamp(1 + gcor_available_memory() / thread_bytes, known, wanted);
    return known;
}

int r_threads(SEXP threads) {
    return is_forked ? 1 : affordable_threads(Rf_asInteger(threads));
}

int r_own_threads(int threads) {
    return is_forked ? 1 : threads;
}

int r_cores(void) {
    return is_forked ? 1 : gcor_os_processors();
}

/* ---- the end of the library --------------------------------------------------------------------- */

int r_is_child(void) {
    return is_forked;
}

int r_has_owners(void) {
    return n_owners > 0;
}

/* ---- interrupts and progress -------------------------------------------------------------------- */

/* Ctrl-C without a jump through the engine, and reports of progress to R, which R/run-progress.R shows. */

static void check_interrupt(void *unused) {
    R_CheckUserInterrupt();
}

typedef struct {
    SEXP place;
    double done, pairs;
} report;

static SEXP call_report(void *user) {
    const report *q = user;
    SEXP done = PROTECT(Rf_ScalarReal(q->done)), pairs = PROTECT(Rf_ScalarReal(q->pairs));
    SEXP call = PROTECT(Rf_lang4(Rf_install("report_progress"), q->place, done, pairs));
    (void)r_eval(call);
    UNPROTECT(3);
    return R_NilValue;
}

/* Where R continues a jump that we interrupted. One is enough: there is one jump at a time. */
static SEXP jump_token(void) {
    static SEXP token = NULL;
    if (!token) R_PreserveObject(token = R_MakeUnwindCont());
    return token;
}

static void stop_jump(void *position, Rboolean jumps) {
    if (jumps) longjmp(*(jmp_buf *)position, 1);
}

/* A handler of R's conditions may leave by a jump. We stop the jump here, the engine ends, and r_progress_end() lets
 * the jump continue when everything is freed. R_ToplevelExec() would hide the handlers of the caller. */
static void tell_progress(r_progress *progress, double fraction) {
    report q = {progress->place, progress->before + fraction * progress->part,
                (double)progress->monitor->pairs / progress->part};
    SEXP token = jump_token();
    jmp_buf position;
    if (setjmp(position))
        progress->jumps = 1;
    else
        R_UnwindProtect(call_report, &q, stop_jump, &position, token);
}

static int check_and_tell(void *user, double fraction) {
    r_progress *progress = user;
    double now = gcor_seconds();
    if (progress->place && now - progress->reported >= progress->interval) {
        progress->reported = now;
        tell_progress(progress, fraction);
    }
    return progress->jumps || !R_ToplevelExec(check_interrupt, NULL);
}

void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP place, double interval) {
    *progress = (r_progress){
        .place = place, .monitor = monitor, .interval = interval, .reported = gcor_seconds(), .part = 1};
    *monitor = gcor_watch(check_and_tell, progress);
}

void r_progress_end(r_progress *progress) {
    if (progress->jumps) R_ContinueUnwind(jump_token());
}
