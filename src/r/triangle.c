/* Positions and pairs for R, from 1. Doubles cannot represent every position above 2^53: such positions are integer64,
 * the class of package bit64, whose doubles hold the bits of 64-bit integers. */
#include "call.h"

#include "../base/triangle.h"

static const int64_t MAX_EXACT = (int64_t)1 << 53;

static int64_t integer_at(SEXP x, R_xlen_t k, int is_integer64) {
    int64_t value;
    if (!is_integer64) return (int64_t)REAL(x)[k];
    memcpy(&value, REAL(x) + k, sizeof value);
    return value;
}

/* Returns a matrix of the pairs (i, j) at positions k. order 0: by rows; 1: by columns. */
SEXP r_triangle_index(SEXP k, SEXP n_var, SEXP order) {
    int is_integer64 = Rf_inherits(k, "integer64"), by_columns = Rf_asInteger(order);
    int64_t n = (int64_t)Rf_asReal(n_var), pairs = gcor_triangular(n - 1);
    R_xlen_t length = Rf_xlength(k);
    if (length > INT_MAX) r_error("'k' has %.0f positions; ask for at most 2^31 - 1 at a time", (double)length);
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)length, 2));
    for (R_xlen_t at = 0; at < length; at++) {
        int64_t position = integer_at(k, at, is_integer64), i, j;
        if (position < 1 || position > pairs)
            r_error("'k' is %.0f at element %.0f; positions go from 1 to n(n-1)/2 = %.0f", (double)position,
                    (double)at + 1, (double)pairs);
        if (by_columns)
            gcor_column_pair(position - 1, &i, &j);
        else
            gcor_row_pair(position - 1, n, &i, &j);
        REAL(result)[at] = (double)(i + 1);
        REAL(result)[length + at] = (double)(j + 1);
    }
    UNPROTECT(1);
    return result;
}

static int64_t position_of(double i, double j, int64_t n, int by_columns) {
    int64_t low = (int64_t)(i < j ? i : j) - 1, high = (int64_t)(i < j ? j : i) - 1;
    return 1 + (by_columns ? gcor_column_position(low, high) : gcor_row_position(low, high, n));
}

/* Returns the positions of pairs. i and j: doubles of equal length, which the caller has checked. */
SEXP r_triangle_position(SEXP i, SEXP j, SEXP n_var, SEXP order) {
    int by_columns = Rf_asInteger(order), large = 0;
    int64_t n = (int64_t)Rf_asReal(n_var);
    R_xlen_t length = Rf_xlength(i);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, length));
    for (R_xlen_t at = 0; at < length; at++) large |= position_of(REAL(i)[at], REAL(j)[at], n, by_columns) > MAX_EXACT;
    for (R_xlen_t at = 0; at < length; at++) {
        int64_t position = position_of(REAL(i)[at], REAL(j)[at], n, by_columns);
        if (large)
            memcpy(REAL(result) + at, &position, sizeof position);
        else
            REAL(result)[at] = (double)position;
    }
    if (large) Rf_setAttrib(result, R_ClassSymbol, Rf_mkString("integer64"));
    UNPROTECT(1);
    return result;
}
