/* Voxels of an image as elements of a matrix: converted, transposed and written in one pass, in place. */
#include "call.h"

#include "../base/alloc.h"

#include <math.h>
#include <string.h>

/* Columns worked on at a time: a transposed block is then read in whole cache lines. */
enum { STRIP = 16 };

/* Codes of NIfTI for types of voxels. */
enum { NII_U8 = 2, NII_I16 = 4, NII_I32 = 8, NII_F32 = 16, NII_F64 = 64 };
enum { NII_I8 = 256, NII_U16 = 512, NII_U32 = 768, NII_I64 = 1024 };

/* A block of R/image-read.R, which says what its elements are. */
typedef struct {
    const char *bytes;
    int type, size, is_swapped;
    double slope, inter;
    const double *rows, *columns;
    int64_t n_row, n_col, n_value, column;
} block;

/* Bytes of a value of a NIfTI type; 0: another type. */
static int size_of(int type) {
    if (type == NII_U8 || type == NII_I8) return 1;
    if (type == NII_I16 || type == NII_U16) return 2;
    if (type == NII_I32 || type == NII_U32 || type == NII_F32) return 4;
    return type == NII_F64 || type == NII_I64 ? 8 : 0;
}

static void stop_changed(void) {
    Rf_error("a block of voxels does not fit its values; make the gpuCorFile again with gpuCorFile()");
}

/* Returns an index that R has as a double; -1 if it is outside 0 ... 2^52. */
static int64_t index_of(double value) {
    return value >= 0 && value <= 4503599627370496.0 ? (int64_t)value : -1;
}

/* Returns the largest of n indices, and -1 for none; stops if one is no index. */
static int64_t max_index(const double *indices, int64_t n) {
    int64_t max = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t index = index_of(indices[k]);
        if (index < 0) stop_changed();
        if (index > max) max = index;
    }
    return max;
}

/* Users may change the elements of a gpuCorFile, from which blocks are made: every index is checked. */
static block parse_block(SEXP r) {
    SEXP values = r_element(r, "values"), rows = r_element(r, "rows"), columns = r_element(r, "columns");
    if (TYPEOF(rows) != REALSXP || (TYPEOF(columns) != REALSXP && !Rf_isNull(columns))) stop_changed();
    block b = {.rows = REAL(rows),
               .n_row = Rf_xlength(rows),
               .columns = Rf_isNull(columns) ? NULL : REAL(columns),
               .column = index_of(Rf_asReal(r_element(r, "column")) - 1),
               .slope = 1};
    if (TYPEOF(values) == INTSXP || TYPEOF(values) == LGLSXP) {
        b.bytes = (const char *)INTEGER(values), b.type = NII_I32, b.n_value = Rf_xlength(values);
    } else if (TYPEOF(values) == REALSXP) {
        b.bytes = (const char *)REAL(values), b.type = NII_F64, b.n_value = Rf_xlength(values);
    } else {
        SEXP bytes = r_element(values, "bytes");
        b.type = Rf_asInteger(r_element(values, "type"));
        if (TYPEOF(bytes) != RAWSXP || size_of(b.type) == 0) stop_changed();
        b.bytes = (const char *)RAW(bytes);
        b.n_value = Rf_xlength(bytes) / size_of(b.type);
        b.is_swapped = Rf_asLogical(r_element(values, "swapped")) == TRUE;
        b.slope = Rf_asReal(r_element(values, "slope"));
        b.inter = Rf_asReal(r_element(values, "inter"));
    }
    b.size = size_of(b.type);
    b.n_col = b.columns ? Rf_xlength(columns) : b.n_value;
    int64_t max_row = max_index(b.rows, b.n_row);
    int64_t max_column = b.columns ? max_index(b.columns, b.n_col) : b.n_col - 1;
    if (b.column < 0 || (b.n_row > 0 && b.n_col > 0 && max_row + max_column >= b.n_value)) stop_changed();
    return b;
}

/* A member of the union v, copied with a size that the compiler knows. */
#define READ(member) (memcpy(&v.member, at, sizeof v.member), v.member)

/* Returns the number at that address, which need not be aligned. */
static inline double number_at(const char *at, int type) {
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        float f32;
        double f64;
    } v;
    switch (type) {
    case NII_I8: return READ(i8);
    case NII_U8: return READ(u8);
    case NII_I16: return READ(i16);
    case NII_U16: return READ(u16);
    case NII_I32: return READ(i32) == NA_INTEGER ? NA_REAL : READ(i32);
    case NII_U32: return READ(u32);
    case NII_F32: return READ(f32);
    case NII_F64: return READ(f64);
    default: return (double)READ(i64);
    }
}

/* Returns element i, j of the block, scaled. */
static inline double value_of(const block *b, int64_t i, int64_t j) {
    const char *at = b->bytes + (int64_t)(b->rows[i] + (b->columns ? b->columns[j] : (double)j)) * b->size;
    char swapped[8];
    for (int k = 0; b->is_swapped && k < b->size; k++) swapped[k] = at[b->size - 1 - k];
    double value = number_at(b->is_swapped ? swapped : at, b->type);
    return b->slope == 1 && b->inter == 0 ? value : value * b->slope + b->inter;
}

/* Returns n zeros, integers or doubles. R's own vectors have small pages, whose first touch takes longer than the rest
 * of reading an image. */
SEXP r_zeros(SEXP is_whole, SEXP n) {
    R_xlen_t length = (R_xlen_t)index_of(Rf_asReal(n));
    SEXP zeros = PROTECT(Rf_allocVector(Rf_asLogical(is_whole) ? INTSXP : REALSXP, length));
    size_t bytes = (size_t)length * (TYPEOF(zeros) == INTSXP ? sizeof(int) : sizeof(double));
    void *at = TYPEOF(zeros) == INTSXP ? (void *)INTEGER(zeros) : (void *)REAL(zeros);
    gcor_huge_pages(at, bytes);
    memset(at, 0, bytes);
    UNPROTECT(1);
    return zeros;
}

/* Writes the block's element i, j to to[first + i + j * step]. `to`: integers or doubles; it is changed in place. */
SEXP r_put_block(SEXP to, SEXP first, SEXP step, SEXP values) {
    const block b = parse_block(values);
    int64_t stride = index_of(Rf_asReal(step)), start = index_of(Rf_asReal(first)), last;
    if (b.n_row == 0 || b.n_col == 0) return R_NilValue;
    if ((TYPEOF(to) != INTSXP && TYPEOF(to) != REALSXP) || stride < 0 || start < 0 ||
        __builtin_mul_overflow(b.n_col - 1, stride, &last) ||
        __builtin_add_overflow(last, start + b.n_row - 1, &last) || last >= Rf_xlength(to))
        stop_changed();
    int *integers = TYPEOF(to) == INTSXP ? INTEGER(to) + start : NULL;
    double *doubles = integers ? NULL : REAL(to) + start;
    for (int64_t from = 0; from < b.n_col; from += STRIP) {
        int64_t end = b.n_col - from < STRIP ? b.n_col : from + STRIP;
        for (int64_t i = 0; i < b.n_row; i++) {
            for (int64_t j = from; j < end; j++) {
                double value = value_of(&b, i, j);
                if (doubles)
                    doubles[i + j * stride] = value;
                else
                    integers[i + j * stride] = value != value ? NA_INTEGER : (int)value;
            }
        }
    }
    return R_NilValue;
}

/* For each column of the block: sets first[column] (NaN: none yet) to its first finite value, and varies[column] to 1
 * if another one differs, both in place. */
SEXP r_add_variation(SEXP first, SEXP varies, SEXP values) {
    const block b = parse_block(values);
    if (TYPEOF(first) != REALSXP || TYPEOF(varies) != LGLSXP || Rf_xlength(first) != Rf_xlength(varies) ||
        b.column > Rf_xlength(first) - b.n_col)
        stop_changed();
    double *seen = REAL(first) + b.column;
    int *differs = LOGICAL(varies) + b.column;
    for (int64_t i = 0; i < b.n_row; i++) {
        for (int64_t j = 0; j < b.n_col; j++) {
            if (differs[j]) continue;
            double value = value_of(&b, i, j);
            if (!isfinite(value)) continue;
            if (isnan(seen[j])) seen[j] = value;
            differs[j] = value != seen[j];
        }
    }
    return R_NilValue;
}
