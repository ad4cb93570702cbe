/* Ctrl-C without a jump through the engine, reports of progress to R, which R/run-progress.R shows, and the settings of
 * a call. */
#include "call.h"

#include <setjmp.h>

static void check_interrupt(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

typedef struct {
    SEXP settings;
    double done, pairs;
} report;

static SEXP call_report(void *user) {
    const report *q = user;
    SEXP done = PROTECT(Rf_ScalarReal(q->done)), pairs = PROTECT(Rf_ScalarReal(q->pairs));
    SEXP call = PROTECT(Rf_lang4(Rf_install("report_progress"), q->settings, done, pairs));
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
static void tell(r_progress *progress, double fraction) {
    report q = {progress->settings, progress->before + fraction * progress->part,
                (double)progress->monitor->pairs / progress->part};
    SEXP token = jump_token();
    jmp_buf position;
    if (setjmp(position))
        progress->jumps = 1;
    else
        R_UnwindProtect(call_report, &q, stop_jump, &position, token);
}

static int check(void *user, double fraction) {
    r_progress *progress = user;
    double now = gcor_seconds();
    if (progress->settings && now - progress->reported >= progress->interval) {
        progress->reported = now;
        tell(progress, fraction);
    }
    return progress->jumps || !R_ToplevelExec(check_interrupt, NULL);
}

void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP settings, double interval) {
    *progress = (r_progress){
        .settings = settings, .monitor = monitor, .interval = interval, .reported = gcor_seconds(), .part = 1};
    *monitor = gcor_watch(check, progress);
}

void r_progress_end(r_progress *progress) {
    if (progress->jumps) R_ContinueUnwind(jump_token());
}

/* ---- the call's settings ---------------------------------------------------------------------- */

void r_call_parse(r_call *call, SEXP settings) {
    double interval = Rf_asReal(r_element(settings, "progress"));
    r_monitor(&call->monitor, &call->progress, interval > 0 ? settings : NULL, interval);
    call->context = (gcor_context){
        .threads = r_threads(r_element(settings, "threads")),
        .memory = (int64_t)Rf_asReal(r_element(settings, "memory")),
        .monitor = &call->monitor,
    };
}

void r_quiet_call_parse(r_call *call, SEXP settings) {
    r_call_parse(call, settings);
    call->progress.settings = NULL;
}

void r_plain_call_parse(r_call *call, SEXP threads) {
    r_monitor(&call->monitor, &call->progress, NULL, 0);
    call->context = (gcor_context){.threads = r_threads(threads), .monitor = &call->monitor};
}
