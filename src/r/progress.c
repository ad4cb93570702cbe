/* Ctrl-C without a jump through the engine, and the progress line. */
#include "r.h"

static const double QUIET_SECONDS = 2, REPRINT_SECONDS = 0.2;

static void check_interrupt(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

static void format_time(double seconds, char *text, size_t size) {
    if (seconds < 60)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 3600)
        snprintf(text, size, "%.0f min %02.0f s", floor(seconds / 60), floor(fmod(seconds, 60)));
    else
        snprintf(text, size, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
}

/* own: the share of this pass that is done. */
static void print_progress(r_progress *progress, double own) {
    enum { WIDTH = 40 };
    char bar[WIDTH + 1], left[64] = "?";
    double now = gcor_seconds(), elapsed = now - progress->started, share = progress->before + own * progress->width;
    if (elapsed < QUIET_SECONDS || now - progress->printed < REPRINT_SECONDS) return;
    progress->printed = now;
    for (int k = 0; k < WIDTH; k++) bar[k] = k < share * WIDTH ? '=' : ' ';
    bar[WIDTH] = 0;
    if (own > 0) format_time(elapsed * (1 - share) / (own * progress->width), left, sizeof left);
    REprintf("\r[%s] %3.0f %%, %s left   ", bar, 100 * share, left);
}

static int check(void *user, double share) {
    r_progress *progress = user;
    if (progress->show) print_progress(progress, share);
    return !R_ToplevelExec(check_interrupt, NULL);
}

gcor_monitor r_monitor(r_progress *progress, int show) {
    *progress = (r_progress){.show = show, .started = gcor_seconds(), .width = 1};
    return gcor_watch(check, progress);
}

/* Wipe the line, if there is one. */
void r_progress_end(r_progress *progress) {
    if (progress->printed > 0) REprintf("\r%79s\r", "");
}
