/* The part of BLAS that numpy's core calls, in the place of OpenBLAS.
 *
 * OpenBLAS is 25 to 29 MB of kernels for every processor and every size of matrix; docs/adr/0005 says what a function
 * may weigh. Skillroute multiplies some thousand short vectors by one: these loops do that at the speed of memory.
 *
 * The names are those that numpy's wheels look up: CBLAS with 64-bit integers, by the prefix scipy_ and the suffix 64_.
 */
#include <stdint.h>

typedef int64_t Int;

/* The values of the enums in cblas.h. */
enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, AS_IT_IS = 111, TRANSPOSED = 112, CONJUGATED = 113, UPPER = 121 };

#define CBLAS(letter, op) scipy_cblas_##letter##op##64_

#define T float
#define SCALAR float
#define VALUE(x) (x)
#define CONJ(x) (x)
#define NAME(op) CBLAS(s, op)
#define LOCAL(op) s_##op
#include "kernels.h"
float scipy_cblas_sdot64_(Int n, const float *x, Int step_x, const float *y, Int step_y) {
    return s_dot(n, x + s_first(n, step_x), step_x, y + s_first(n, step_y), step_y, 0, 0);
}
#undef T
#undef SCALAR
#undef NAME
#undef LOCAL

#define T double
#define SCALAR double
#define NAME(op) CBLAS(d, op)
#define LOCAL(op) d_##op
#include "kernels.h"
double scipy_cblas_ddot64_(Int n, const double *x, Int step_x, const double *y, Int step_y) {
    return d_dot(n, x + d_first(n, step_x), step_x, y + d_first(n, step_y), step_y, 0, 0);
}
#undef T
#undef SCALAR
#undef VALUE
#undef CONJ
#undef NAME
#undef LOCAL

#define COMPLEX_DOT(letter, T, name, conjugate)                                                                \
    void CBLAS(letter, name)(Int n, const T *x, Int step_x, const T *y, Int step_y, T *result) {               \
        *result = letter##_dot(n, x + letter##_first(n, step_x), step_x, y + letter##_first(n, step_y), step_y, \
                               conjugate, 0);                                                                  \
    }

#define SCALAR const T *
#define VALUE(x) (*(x))
#define CONJ(x) (~(x)) /* a notation of GCC and Clang, for which no header is needed */

#define T float _Complex
#define NAME(op) CBLAS(c, op)
#define LOCAL(op) c_##op
#include "kernels.h"
COMPLEX_DOT(c, float _Complex, dotu_sub, 0)
COMPLEX_DOT(c, float _Complex, dotc_sub, 1)
#undef T
#undef NAME
#undef LOCAL

#define T double _Complex
#define NAME(op) CBLAS(z, op)
#define LOCAL(op) z_##op
#include "kernels.h"
COMPLEX_DOT(z, double _Complex, dotu_sub, 0)
COMPLEX_DOT(z, double _Complex, dotc_sub, 1)
