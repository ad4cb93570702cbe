/* Sums of products of elements of one type. Included by isa.h with TYPE; PRODUCTS, the function's name; and
 * ADD_PRODUCT(a, b, sum), which adds the product of a number and a vector to the vector of sums. */
/* clang-format off: it cannot format a pragma before a loop */
TARGET static void NAME(PRODUCTS)(const TYPE *rows, const TYPE *cols, int64_t n, int add, TYPE *sums) {
    typedef TYPE vector __attribute__((vector_size(BYTES), may_alias));
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(TYPE) };
    for (int part = 0; part < CPU_KERNEL_ROWS / REAL_ROWS * (VECTORS / REAL_VECTORS); part++) {
        int first = part / (VECTORS / REAL_VECTORS) * REAL_ROWS, from = part % (VECTORS / REAL_VECTORS) * REAL_VECTORS;
        vector sum[REAL_ROWS][REAL_VECTORS];
        UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
            sum[r][v] = (vector){0};
        for (int64_t k = 0; k < n; k++) {
            const TYPE *row = rows + k * WIDTH + first;
            const vector *col = (const vector *)(cols + k * WIDTH) + from;
            UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
                sum[r][v] = ADD_PRODUCT(row[r], col[v], sum[r][v]);
        }
        UNROLL for (int r = 0; r < REAL_ROWS; r++) {
            vector *out = (vector *)(sums + (first + r) * CPU_BLOCK_COLS) + from;
            UNROLL for (int v = 0; v < REAL_VECTORS; v++) {
                if (add) sum[r][v] += out[v];
                out[v] = sum[r][v];
            }
        }
    }
}

#undef TYPE
#undef PRODUCTS
#undef ADD_PRODUCT
/* clang-format on */
