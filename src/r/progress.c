/* Ctrl-C without a jump through the engine, and word to R of how far the work is: R/progress.R shows it. */
#include "r.h"

#include <setjmp.h>

static void check_interrupt(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

typedef struct {
    SEXP settings;
    double fraction, pairs;
} report;

static SEXP call_report(void *user) {
    const report *q = user;
    SEXP name = PROTECT(Rf_mkString("gpucor")), namespace = PROTECT(R_FindNamespace(name));
    SEXP fraction = PROTECT(Rf_ScalarReal(q->fraction)), pairs = PROTECT(Rf_ScalarReal(q->pairs));
    SEXP call = PROTECT(Rf_lang4(Rf_install("report_progress"), q->settings, fraction, pairs));
    Rf_eval(call, namespace);
    UNPROTECT(5);
    return R_NilValue;
}

/* Where a jump out of R goes on from, R's own; there is one at a time. */
static SEXP jump_token(void) {
    static SEXP token = NULL;
    if (!token) R_PreserveObject(token = R_MakeUnwindCont());
    return token;
}

static void land(void *position, Rboolean jumps) {
    if (jumps) longjmp(*(jmp_buf *)position, 1);
}

/* Whoever handles R's conditions may leave by a jump: it comes to rest here, the engine stops, and the jump goes on in
 * r_progress_end(), when all is freed. So handlers are those of the call, which R_ToplevelExec() would hide. */
static void tell(r_progress *progress, double fraction) {
    report q = {progress->settings, progress->before + fraction * progress->width,
                (double)progress->monitor->pairs / progress->width};
    SEXP token = jump_token();
    jmp_buf position;
    if (setjmp(position))
        progress->jumps = 1;
    else
        R_UnwindProtect(call_report, &q, land, &position, token);
}

static int check(void *user, double fraction) {
    r_progress *progress = user;
    double now = gcor_seconds();
    if (progress->settings && now - progress->told >= progress->interval) {
        progress->told = now;
        tell(progress, fraction);
    }
    return progress->jumps || !R_ToplevelExec(check_interrupt, NULL);
}

void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP settings) {
    double interval = settings ? Rf_asReal(r_element(settings, "progress")) : 0;
    *progress = (r_progress){.settings = interval > 0 ? settings : NULL,
                             .monitor = monitor,
                             .interval = interval,
                             .told = gcor_seconds(),
                             .width = 1};
    *monitor = gcor_watch(check, progress);
}

void r_progress_end(r_progress *progress) {
    if (progress->jumps) R_ContinueUnwind(jump_token());
}
