/* The five operations of BLAS that numpy calls, for one type of element. blas.c includes this file once for each, with
 *   T          the element
 *   SCALAR     how the CBLAS interface passes alpha and beta: by value if real, by address if complex
 *   VALUE(x)   the T behind a SCALAR
 *   CONJ(x)    the complex conjugate, x itself if real
 *   NAME(op)   the exported name
 *   LOCAL(op)  a name for this type's helpers
 */

/* The first element of a vector: with a negative step BLAS starts at the far end. */
static Int LOCAL(first)(Int n, Int step) { return step < 0 ? (1 - n) * step : 0; }

static T LOCAL(dot)(Int n, const T *x, Int step_x, const T *y, Int step_y, int conjugate_x, int conjugate_y) {
    T sum = 0;
    if (step_x == 1 && step_y == 1 && !conjugate_x && !conjugate_y) {
        /* Apart from the rest, so that the compiler makes vector instructions of it. */
        for (Int i = 0; i < n; i++) sum += x[i] * y[i];
        return sum;
    }
    for (Int i = 0; i < n; i++) {
        T left = x[i * step_x], right = y[i * step_y];
        sum += (conjugate_x ? CONJ(left) : left) * (conjugate_y ? CONJ(right) : right);
    }
    return sum;
}

static void LOCAL(scale)(Int n, T beta, T *y, Int step) {
    /* With beta 0, y may hold anything, NaN too, and is not read. */
    for (Int i = 0; i < n; i++) y[i * step] = beta == 0 ? 0 : beta * y[i * step];
}

void NAME(axpy)(Int n, SCALAR alpha, const T *x, Int step_x, T *y, Int step_y) {
    T factor = VALUE(alpha);
    x += LOCAL(first)(n, step_x);
    y += LOCAL(first)(n, step_y);
    for (Int i = 0; i < n; i++) y[i * step_y] += factor * x[i * step_x];
}

/* c = alpha op(a) op(b) + beta c, where op(a) is m x k, op(b) is k x n, and c is m x n with rows of ldc elements. */
void NAME(gemm)(int order, int trans_a, int trans_b, Int m, Int n, Int k, SCALAR alpha, const T *a, Int lda,
                const T *b, Int ldb, SCALAR beta, T *c, Int ldc) {
    if (order == COLUMN_MAJOR) { /* by columns, a b is by rows the product of the transposes in the other order */
        NAME(gemm)(ROW_MAJOR, trans_b, trans_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
        return;
    }
    Int row_a = trans_a == AS_IT_IS ? lda : 1, step_a = trans_a == AS_IT_IS ? 1 : lda;
    for (Int i = 0; i < m; i++) {
        const T *left = a + i * row_a;
        T *out = c + i * ldc;
        LOCAL(scale)(n, VALUE(beta), out, 1);
        if (trans_b == AS_IT_IS) { /* rows of b lie together: add them up */
            for (Int p = 0; p < k; p++) {
                T factor = left[p * step_a];
                factor = VALUE(alpha) * (trans_a == CONJUGATED ? CONJ(factor) : factor);
                const T *row = b + p * ldb;
                for (Int j = 0; j < n; j++) out[j] += factor * row[j];
            }
        } else { /* columns of op(b) lie together: one product each */
            for (Int j = 0; j < n; j++)
                out[j] += VALUE(alpha) *
                          LOCAL(dot)(k, left, step_a, b + j * ldb, 1, trans_a == CONJUGATED, trans_b == CONJUGATED);
        }
    }
}

/* y = alpha op(a) x + beta y, where a is m x n. */
void NAME(gemv)(int order, int trans, Int m, Int n, SCALAR alpha, const T *a, Int lda, const T *x, Int step_x,
                SCALAR beta, T *y, Int step_y) {
    Int rows = trans == AS_IT_IS ? m : n, length = trans == AS_IT_IS ? n : m;
    int by_row = (order == ROW_MAJOR) == (trans == AS_IT_IS); /* do the rows of op(a) lie together? */
    x += LOCAL(first)(length, step_x);
    y += LOCAL(first)(rows, step_y);
    LOCAL(scale)(rows, VALUE(beta), y, step_y);
    if (by_row) {
        for (Int i = 0; i < rows; i++)
            y[i * step_y] += VALUE(alpha) * LOCAL(dot)(length, a + i * lda, 1, x, step_x, trans == CONJUGATED, 0);
        return;
    }
    for (Int j = 0; j < length; j++) {
        T factor = VALUE(alpha) * x[j * step_x];
        const T *column = a + j * lda;
        for (Int i = 0; i < rows; i++) y[i * step_y] += factor * (trans == CONJUGATED ? CONJ(column[i]) : column[i]);
    }
}

/* c = alpha op(a) op(a)^T + beta c, where op(a) is n x k; of c, which is symmetric, one triangle is written. */
void NAME(syrk)(int order, int triangle, int trans, Int n, Int k, SCALAR alpha, const T *a, Int lda, SCALAR beta,
                T *c, Int ldc) {
    int by_row = (order == ROW_MAJOR) == (trans == AS_IT_IS);
    Int row = by_row ? lda : 1, step = by_row ? 1 : lda;
    int upper = (order == ROW_MAJOR) == (triangle == UPPER); /* as rows of c see it */
    for (Int i = 0; i < n; i++) {
        Int from = upper ? i : 0, to = upper ? n : i + 1;
        LOCAL(scale)(to - from, VALUE(beta), c + i * ldc + from, 1);
        for (Int j = from; j < to; j++)
            c[i * ldc + j] += VALUE(alpha) * LOCAL(dot)(k, a + i * row, step, a + j * row, step, 0, 0);
    }
}
