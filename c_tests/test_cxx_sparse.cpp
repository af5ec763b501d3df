// thorn.hpp: sparse tensors.

#include "cxx/check.hpp"

#include <array>
#include <cstdio>
#include <sstream>

using th::SparseTensor;
using th::Tensor;

static Tensor doubles(const th::Nested &values) { return th::tensor(values, th::float64); }

// [[0 0 3] [4 0 5]], by coordinates.
static SparseTensor matrix() { return SparseTensor(th::tensor({{0, 1, 1}, {2, 0, 2}}), doubles({3, 4, 5}), {2, 3}); }

static void coordinates_and_values_make_one() {
    SparseTensor s = matrix();
    CHECK(s.defined() && s.dim() == 2 && s.nDimension() == 2 && s.sizes() == (th::IntList{2, 3}));
    CHECK_EQ(s.nnz(), 3);
    CHECK(s.size(-1) == 3 && s.sparseDim() == 2 && s.denseDim() == 0 && s.dtype() == th::float64);
    CHECK(!s.isCoalesced() && !s.isCompressed());
    CHECK_VALUES(s.toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_VALUES(s.indices(), 0, 1, 1, 2, 0, 2);
    CHECK_VALUES(s.values(), 3, 4, 5);
    // Without sizes, the smallest sizes that hold all positions.
    CHECK_VALUES(SparseTensor(th::tensor({{1, 0}}), doubles({{1, 2}, {3, 4}})).toDense(), 3, 4, 1, 2);
    SparseTensor empty = SparseTensor::withSize({2, 2, 3}, 2, th::float64);
    CHECK(empty.nnz() == 0 && empty.sparseDim() == 2 && empty.denseDim() == 1);
    CHECK(SparseTensor::withSize({2}, 1).dtype() == th::getDefaultDtype());
    CHECK_SIZES(empty.toDense(), 2, 2, 3);
    CHECK_THROWS(SparseTensor(th::tensor({{0, 5}}), doubles({1, 2}), {3}), th::Status::ErrArgument, "withTensorAndSize: ");
    CHECK_THROWS(SparseTensor(Tensor(), doubles({1})), th::Status::ErrArgument, "withTensor: ");
    CHECK_THROWS(SparseTensor().nnz(), th::Status::ErrArgument, "nnz: ");
    CHECK(SparseTensor().dim() == 0 && SparseTensor().sizes().count() == 0);
}

static void rows_are_compressed() {
    SparseTensor s = SparseTensor::csr(th::tensor({0, 1, 3}), th::tensor({2, 0, 2}), doubles({3, 4, 5}), 2, 3);
    CHECK(s.isCompressed() && s.sizes() == (th::IntList{2, 3}));
    CHECK_VALUES(s.toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_VALUES(s.indices(), 0, 1, 1, 2, 0, 2);
    SparseTensor other = matrix().compressed();
    CHECK_VALUES(other.crow(), 0, 1, 3);
    CHECK_VALUES(other.col(), 2, 0, 2);
    CHECK(!other.coordinates().isCompressed());
    CHECK_THROWS(matrix().crow(), th::Status::ErrArgument, "crow: ");
    CHECK_THROWS(SparseTensor::csr(th::tensor({0, 9, 3}), th::tensor({2, 0, 2}), doubles({3, 4, 5}), 2, 3),
                 th::Status::ErrArgument, "csr: ");
}

static void dense_tensors_become_sparse() {
    Tensor t = doubles({{0, 2}, {0, 0}, {3, 4}});
    SparseTensor s = t.toSparse();
    CHECK(s.nnz() == 3 && s.isCoalesced());
    CHECK(th::equal(s.toDense(), t));
    SparseTensor rows = t.toSparse(1);
    CHECK(rows.nnz() == 2 && rows.denseDim() == 1);
    CHECK_VALUES(rows.indices(), 0, 2);
    CHECK_VALUES(rows.values(), 0, 2, 3, 4);
    Tensor u = doubles({{1, 2, 3}, {4, 5, 6}});
    CHECK_VALUES(u.sparseMask(matrix()).values(), 3, 4, 6);
    CHECK_VALUES(th::sparseMask(u, matrix()).values(), 3, 4, 6);
}

static void copies_count_references() {
    SparseTensor a = matrix(), b = a, c = std::move(a);
    CHECK(!a.defined() && b.get() == c.get());
    CHECK_EQ(b.get()->refcount, 2);
    a = SparseTensor::share(b.get());
    CHECK_EQ(b.get()->refcount, 3);
    THSTensor *raw = a.release();
    CHECK(!a.defined());
    SparseTensor taken = SparseTensor::take(raw);
    CHECK_EQ(taken.get()->refcount, 3);
    b.zero_();
    CHECK(taken.nnz() == 0 && taken.sizes() == (th::IntList{2, 3}));
    SparseTensor d = matrix(), e = d.clone(), f = d.withSparse();
    d.values().fill_(7);
    CHECK_VALUES(e.values(), 3, 4, 5);
    CHECK_VALUES(f.values(), 7, 7, 7);
}

static void operators_are_elementwise() {
    SparseTensor a = matrix(), b = th::tensor({{1., 0., 1.}, {1., 0., 0.}}, th::float64).toSparse();
    Tensor t = doubles({{1, 2, 3}, {4, 5, 6}});
    CHECK_VALUES((a + b).toDense(), 1, 0, 4, 5, 0, 5);
    CHECK_VALUES((a - b).toDense(), -1, 0, 2, 3, 0, 5);
    CHECK_VALUES((a * b).toDense(), 0, 0, 3, 4, 0, 0);
    CHECK_VALUES((2 * a * 2).toDense(), 0, 0, 12, 16, 0, 20);
    CHECK_VALUES((a / 2).toDense(), 0, 0, 1.5, 2, 0, 2.5);
    CHECK_VALUES((-a).toDense(), 0, 0, -3, -4, 0, -5);
    CHECK_VALUES((a * t).toDense(), 0, 0, 9, 16, 0, 30);
    CHECK_VALUES((t * a).toDense(), 0, 0, 9, 16, 0, 30);
    CHECK_VALUES((a / t).toDense(), 0, 0, 1, 1, 0, 5. / 6);
    CHECK_VALUES(t + a, 1, 2, 6, 8, 5, 11);
    CHECK_VALUES(a + t, 1, 2, 6, 8, 5, 11);
    CHECK_VALUES(t - a, 1, 2, 0, 0, 5, 1);
    CHECK_VALUES(a - t, -1, -2, 0, 0, -5, -1);
    SparseTensor c = a;
    c += b;
    c *= 2;
    c -= b;
    c /= 2;
    CHECK_VALUES(a.toDense(), 0.5, 0, 3.5, 4.5, 0, 5);
    c *= t;
    c /= t;
    c *= b;
    CHECK_VALUES(c.toDense(), 0.5, 0, 3.5, 4.5, 0, 0);
    CHECK_THROWS(a + SparseTensor::withSize({5, 5}, 2, th::float64), th::Status::ErrShape, "add: ");
}

static void functions_are_methods_and_beside_them() {
    SparseTensor a = matrix(), b = a.neg();
    CHECK_VALUES(a.cadd(10, b).toDense(), 0, 0, -27, -36, 0, -45);
    CHECK_VALUES(th::add(a, 10, b).toDense(), 0, 0, -27, -36, 0, -45);
    CHECK_VALUES(b.abs().toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_VALUES(th::abs(b).toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_VALUES(b.abs_().toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_VALUES(th::relu_out(b, a).toDense(), 0, 0, 3, 4, 0, 5);
    CHECK_EQ(a.sumall(), 12);
    CHECK_EQ(th::sumall(a), 12);
    CHECK_EQ(a.normall(1), 12);
    CHECK(std::abs(a.normall() - std::sqrt(50.)) < 1e-12);
    CHECK_VALUES(a.sum({0}).toDense(), 4, 0, 8);
    CHECK_VALUES(a.transpose(0, 1).toDense(), 0, 4, 0, 0, 3, 5);
    CHECK_VALUES(a.select(0, -1).toDense(), 4, 0, 5);
    CHECK_VALUES(a.narrow(1, 1, 2).toDense(), 0, 3, 0, 5);
    CHECK_VALUES(th::cat({a, a}, 1).toDense(), 0, 0, 3, 0, 0, 3, 4, 0, 5, 4, 0, 5);
    const std::array<SparseTensor, 2> list = {a, a};
    CHECK_SIZES(th::cat(list).toDense(), 4, 3);
    SparseTensor r;
    CHECK_SIZES(th::cat_out(r, list, 0).toDense(), 4, 3);
    SparseTensor copy;
    CHECK_THROWS(copy.copy_(a), th::Status::ErrArgument, "copy_: ");
    r.copy_(a);
    CHECK(r.get() != a.get() && r.values().get() != a.values().get());
    CHECK_VALUES(r.resize_({4, 3}, 2).toDense(), 0, 0, 3, 4, 0, 5, 0, 0, 0, 0, 0, 0);
    SparseTensor twice(th::tensor({{1, 1, 0}}), doubles({1, 2, 3}));
    CHECK_VALUES(twice.coalesce().values(), 3, 3);
    CHECK(twice.nnz() == 3 && twice.coalesce_().nnz() == 2 && twice.isCoalesced());
}

static void products_are_dense_or_sparse() {
    SparseTensor s = matrix();
    Tensor m = doubles({{1, 2}, {3, 4}, {5, 6}});
    CHECK_VALUES(s.spmm(m), 15, 18, 29, 38);
    CHECK_VALUES(th::spmm(s.compressed(), m), 15, 18, 29, 38);
    CHECK_VALUES(s.spmv(doubles({1, 2, 3})), 9, 19);
    CHECK_VALUES(s.sspmm(m).toDense(), 15, 18, 29, 38);
    CHECK_VALUES(s.hspmm(m).toDense(), 15, 18, 29, 38);
    Tensor t = th::ones({2, 2}, th::float64), r;
    CHECK_VALUES(th::spaddmm(10, t, 2, s, m), 40, 46, 68, 86);
    CHECK_VALUES(th::spaddmm(t, s, m), 16, 19, 30, 39);
    CHECK_VALUES(th::spmm_out(r, s, m), 15, 18, 29, 38);
    CHECK_THROWS(s.spmm(t), th::Status::ErrShape, "spmm: ");
    CHECK_VALUES(r, 15, 18, 29, 38);
}

static void values_have_gradients() {
    Tensor values = doubles({3, 4, 5}).setRequiresGrad_(true), m = doubles({{1, 2}, {3, 4}, {5, 6}}).setRequiresGrad_(true);
    SparseTensor s(th::tensor({{0, 1, 1}, {2, 0, 2}}), values, {2, 3});
    (s * 2).spmm(m).sum().backward();
    CHECK_VALUES(values.grad(), 22, 6, 22);
    CHECK_VALUES(m.grad(), 8, 8, 0, 0, 16, 16);
}

static void systems_are_solved() {
    SparseTensor s = doubles({{4, 1, 0}, {1, 3, 1}, {0, 1, 2}}).toSparse();
    Tensor b = doubles({6, 10, 8}), x = s.solve(b);
    CHECK(th::allclose(x, doubles({1, 2, 3})));
    CHECK(th::allclose(s.cg(b), x, 1e-4));
    Tensor r, residual;
    const int64_t steps = th::cg_out(r, residual, s, b, {}, 1e-12);
    CHECK(steps >= 1 && steps <= 4 && residual.item() <= 1e-12 && th::allclose(r, x));
    int64_t last = 0;
    CHECK(th::allclose(s.cg(b, {}, 1e-12, 100, [&](int64_t iteration, double) { last = iteration; }), x));
    CHECK_EQ(last, steps);
    struct Stop {};
    bool stopped = false;
    try {
        static_cast<void>(s.cg(b, {}, 1e-12, 100, [](int64_t, double) { throw Stop(); }));
    } catch (const Stop &) {
        stopped = true;
    }
    CHECK(stopped);
    CHECK_THROWS(s.cg(b, {}, 1e-12, 1), th::Status::ErrNumeric, "cg: ");
    CHECK(th::allclose(s.compressed().trtrs(b, true), doubles({0.75, 2, 4}), 1));
    CHECK_VALUES((th::mm(s, s)).toDense(), 17, 7, 1, 7, 11, 5, 1, 5, 5);
    CHECK(th::allclose(th::ones({2, 2}, th::float64).toSparse().softmax().toDense(), th::full({2, 2}, 0.5, th::float64)));
}

static void files_hold_them() {
    SparseTensor s = matrix().coalesce();
    s.save("cxx_sparse.mtx");
    CHECK(th::equal(SparseTensor::load("cxx_sparse.mtx").toDense(), s.toDense()));
    std::remove("cxx_sparse.mtx");
}

static void texts_are_pytorch_s() {
    std::ostringstream out;
    out << matrix();
    CHECK_EQ(out.str(), std::string(matrix().toString()));
    CHECK(out.str().find("layout=torch.sparse_coo") != std::string::npos);
}

CHECK_MAIN(CASE(coordinates_and_values_make_one), CASE(rows_are_compressed), CASE(dense_tensors_become_sparse),
           CASE(copies_count_references), CASE(operators_are_elementwise), CASE(functions_are_methods_and_beside_them),
           CASE(products_are_dense_or_sparse), CASE(values_have_gradients), CASE(systems_are_solved), CASE(files_hold_them),
           CASE(texts_are_pytorch_s))
