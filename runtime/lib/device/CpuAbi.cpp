// The kernels of the program ABI (program.h) on CPUs.
#include "attention/Attention.h"
#include "gemm/Gemm.h"
#include "titan/runtime/program.h"

namespace titan::rt {

namespace {

template <typename From, typename To>
void multiply(const From *a, const From *b, To *c, const GemmShape &s) {
  BatchDim batch[] = {{s.batch, s.strideA, s.strideB, s.strideC}};
  gemmBatched(batch, Trans(s.transposeA), Trans(s.transposeB), s.m, s.n, s.k, a, s.lda, b, s.ldb,
              s.accumulate, c, s.ldc);
}

} // namespace

void gemm(Context &, const bf16 *a, const bf16 *b, bf16 *c, const GemmShape &shape) {
  multiply(a, b, c, shape);
}

void gemm(Context &, const bf16 *a, const bf16 *b, float *c, const GemmShape &shape) {
  multiply(a, b, c, shape);
}

void gemm(Context &, const float *a, const float *b, float *c, const GemmShape &shape) {
  multiply(a, b, c, shape);
}

void gemm(Context &, const double *a, const double *b, double *c, const GemmShape &shape) {
  multiply(a, b, c, shape);
}

void attention(Context &, const float *q, const float *k, const float *v, float *out, float *lse,
               const AttentionShape &shape) {
  attentionForward(shape, q, k, v, out, lse);
}

void attention(Context &, const double *q, const double *k, const double *v, double *out,
               double *lse, const AttentionShape &shape) {
  attentionForward(shape, q, k, v, out, lse);
}

void attention(Context &, const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *lse,
               const AttentionShape &shape) {
  attentionForward(shape, q, k, v, out, lse);
}

void attentionGrad(Context &, const bf16 *dOut, const bf16 *q, const bf16 *k, const bf16 *v,
                   const bf16 *out, const float *lse, const float *lseCotangent, bf16 *dq, bf16 *dk,
                   bf16 *dv, const AttentionShape &shape) {
  attentionBackward(shape, q, k, v, out, lse, dOut, lseCotangent, dq, dk, dv);
}

void attentionGrad(Context &, const float *dOut, const float *q, const float *k, const float *v,
                   const float *out, const float *lse, const float *lseCotangent, float *dq,
                   float *dk, float *dv, const AttentionShape &shape) {
  attentionBackward(shape, q, k, v, out, lse, dOut, lseCotangent, dq, dk, dv);
}

void attentionGrad(Context &, const double *dOut, const double *q, const double *k, const double *v,
                   const double *out, const double *lse, const double *lseCotangent, double *dq,
                   double *dk, double *dv, const AttentionShape &shape) {
  attentionBackward(shape, q, k, v, out, lse, dOut, lseCotangent, dq, dk, dv);
}

} // namespace titan::rt
