/* Sums of products of elements of one type. Included by kernels_of_isa.h with TYPE; PRODUCTS, the function's name; and
 * ADD_PRODUCT(a, b, sum), which adds the product of a number and a vector to the vector of sums. */
/* clang-format off: it cannot format a pragma before a loop */
static void PRODUCTS(const TYPE *rows, const TYPE *cols, int64_t n, int add, TYPE *sums) {
    typedef TYPE vector __attribute__((vector_size(BYTES), may_alias));
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(TYPE) };
    EACH_PART(first, REAL_ROWS, from, REAL_VECTORS) {
        vector sum[REAL_ROWS][REAL_VECTORS];
        EACH(r, REAL_ROWS, v, REAL_VECTORS) sum[r][v] = (vector){0};
        for (int64_t k = 0; k < n; k++) {
            const TYPE *row = rows + k * WIDTH + first;
            const vector *col = (const vector *)(cols + k * WIDTH) + from;
            EACH(r, REAL_ROWS, v, REAL_VECTORS) sum[r][v] = ADD_PRODUCT(row[r], col[v], sum[r][v]);
        }
        EACH(r, REAL_ROWS, v, REAL_VECTORS) {
            vector *out = (vector *)(sums + (first + r) * CPU_BLOCK_COLS) + from + v;
            if (add) sum[r][v] += *out;
            *out = sum[r][v];
        }
    }
}

#undef TYPE
#undef PRODUCTS
#undef ADD_PRODUCT
/* clang-format on */
