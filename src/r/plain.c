/* Checks a serialized R object before R reads it. R before 4.4 runs code that a crafted stream holds, such as a promise
 * (CVE-2024-27322), while unserialize() reads it or soon after. */
#include "call.h"

/* Max depth of lists and attributes, and max number of attributes of an object: R reads both by recursion. */
enum { MAX_DEPTH = 100 };
enum { MAX_NAME = 1000 }; /* bytes of an attribute's name */

/* Codes of R's format in addition to the types of Rinternals.h. */
enum { REFERENCE = 255, NIL = 254, HAS_ATTRIBUTES = 1 << 9, HAS_TAG = 1 << 10, IS_S4 = 1 << 16 };

/* Bytes not read yet, and the number of symbols read, to which later tags refer. */
typedef struct {
    const unsigned char *at;
    int64_t left, symbols;
} stream;

/* All functions return whether what they skip is allowed. */
static int skip(stream *in, int64_t count, int64_t size) {
    if (count < 0 || count > in->left / size) return 0;
    in->at += count * size;
    in->left -= count * size;
    return 1;
}

static int read_int(stream *in, int32_t *value) {
    if (!skip(in, 1, 4)) return 0;
    const unsigned char *at = in->at - 4;
    *value = (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
    return 1;
}

/* A length of 2^31 or more is -1, followed by its two halves. */
static int read_length(stream *in, int64_t *length) {
    int32_t high, low;
    if (!read_int(in, &low)) return 0;
    *length = low;
    if (low != -1) return 1;
    if (!read_int(in, &high) || !read_int(in, &low) || high < 0 || high > 0xffff) return 0;
    *length = (int64_t)high << 32 | (uint32_t)low;
    return 1;
}

/* `min`, `max`: of the string's bytes; a missing string has -1. */
static int skip_string(stream *in, int32_t min, int32_t max) {
    int32_t flags, length;
    if (!read_int(in, &flags) || (flags & 0xff) != CHARSXP || flags & HAS_ATTRIBUTES) return 0;
    if (!read_int(in, &length) || length < min || length > max) return 0;
    if (length < 1) return 1;
    return skip(in, length, 1) && !memchr(in->at - length, 0, (size_t)length);
}

/* The name of an attribute: a symbol, or a reference to an earlier one. */
static int skip_tag(stream *in) {
    int32_t flags;
    if (!read_int(in, &flags)) return 0;
    if ((flags & 0xff) == SYMSXP) {
        in->symbols++;
        return !(flags & HAS_ATTRIBUTES) && skip_string(in, 1, MAX_NAME);
    }
    if ((flags & 0xff) != REFERENCE) return 0;
    int32_t index = (int32_t)((uint32_t)flags >> 8);
    return (index != 0 || read_int(in, &index)) && index >= 1 && index <= in->symbols;
}

static int skip_object(stream *in, int depth);

static int skip_attributes(stream *in, int depth) {
    for (int32_t flags; depth <= MAX_DEPTH && read_int(in, &flags); depth++) {
        if ((flags & 0xff) == NIL) return 1;
        if ((flags & 0xff) != LISTSXP || flags & HAS_ATTRIBUTES || !(flags & HAS_TAG)) return 0;
        if (!skip_tag(in) || !skip_object(in, depth + 1)) return 0;
    }
    return 0;
}

static int skip_strings(stream *in, int64_t length) {
    int is_allowed = length >= 0;
    for (int64_t k = 0; is_allowed && k < length; k++) is_allowed = skip_string(in, -1, INT32_MAX);
    return is_allowed;
}

static int skip_list(stream *in, int64_t length, int depth) {
    int is_allowed = length >= 0 && length <= in->left / 4;
    for (int64_t k = 0; is_allowed && k < length; k++) is_allowed = skip_object(in, depth + 1);
    return is_allowed;
}

/* Returns the bytes of a value; 0 for types whose values differ in size, and for all others. */
static int64_t value_bytes(int type) {
    if (type == LGLSXP || type == INTSXP) return 4;
    if (type == REALSXP) return 8;
    if (type == CPLXSXP) return 16;
    return type == RAWSXP;
}

/* NULL, a vector or a list with its attributes. */
static int skip_object(stream *in, int depth) {
    int32_t flags;
    int64_t length;
    if (depth > MAX_DEPTH || !read_int(in, &flags)) return 0;
    int type = flags & 0xff, is_allowed = 0;
    if (type == NIL) return 1;
    if (flags & IS_S4 || !read_length(in, &length)) return 0;
    if (value_bytes(type) > 0) is_allowed = skip(in, length, value_bytes(type));
    if (type == STRSXP) is_allowed = skip_strings(in, length);
    if (type == VECSXP) is_allowed = skip_list(in, length, depth);
    return is_allowed && (!(flags & HAS_ATTRIBUTES) || skip_attributes(in, depth + 1));
}

/* Returns whether a raw vector is what serialize(object, NULL, version = 2) makes of a vector or list that contains
 * only vectors and lists. Version 2 has no ALTREP objects. */
SEXP r_is_plain(SEXP bytes) {
    static const unsigned char head[] = {'X', '\n', 0, 0, 0, 2}; /* followed by two versions of R */
    if (TYPEOF(bytes) != RAWSXP || Rf_xlength(bytes) < 14 || memcmp(RAW(bytes), head, sizeof head) != 0) {
        return Rf_ScalarLogical(0);
    }
    stream in = {.at = RAW(bytes) + 14, .left = Rf_xlength(bytes) - 14};
    return Rf_ScalarLogical(skip_object(&in, 0) && in.left == 0);
}
