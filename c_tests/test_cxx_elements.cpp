// thorn.hpp: typed elements, tensors of values in braces, of ranges, and over the program's memory.

#include "cxx/check.hpp"

#include <array>
#include <list>
#include <memory>
#include <numeric>
#include <vector>

using th::Tensor;

static void types_have_dtypes() {
    static_assert(th::dtypeOf<float>() == th::float32 && th::dtypeOf<const double>() == th::float64);
    static_assert(th::dtypeOf<uint8_t>() == th::uint8 && th::dtypeOf<int8_t>() == th::int8);
    static_assert(th::dtypeOf<short>() == th::int16 && th::dtypeOf<int>() == th::int32);
    static_assert(th::dtypeOf<long long>() == th::int64 && th::dtypeOf<int64_t>() == th::int64);
    static_assert(th::dtypeOf<bool>() == th::Dtype::Bool);
}

static void data_has_the_type_of_the_elements() {
    Tensor t = th::tensor({{1.f, 2.f}, {3.f, 4.f}});
    float *data = t.data<float>();
    CHECK_EQ(data[3], 4.f);
    CHECK_EQ(static_cast<void *>(data), t.data());
    CHECK_EQ(t[1].data<float>(), data + 2);
    CHECK_THROWS(t.data<double>(), th::Status::ErrDtype, "data: elements are float32, not float64");
    CHECK_THROWS(t.data<int>(), th::Status::ErrDtype, "float32, not int32");
}

static void elements_are_a_range() {
    Tensor t = th::arange(6, th::int32).view({2, 3});
    int sum = 0;
    for (int &x : t.elements<int>()) sum += x++;
    CHECK_EQ(sum, 15);
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_EQ(t.elements<int>().size(), 6u);
    CHECK_EQ(t.elements<int>()[5], 6);
    CHECK_EQ(th::zeros({0}).elements<float>().size(), 0u);
    CHECK_THROWS(t.t().elements<int>(), th::Status::ErrArgument, "elements: the tensor is not contiguous");
    CHECK_EQ(t.t().contiguous().elements<int>()[1], 4);
#ifdef __cpp_lib_span
    std::span<int> span = t.span<int>();
    CHECK_EQ(span.size(), 6u);
    CHECK_EQ(span.data(), t.data<int>());
#endif
}

static void an_element_is_read_and_written() {
    Tensor t = th::arange(6, th::float32).view({2, 3});
    CHECK_EQ(t.at<float>(1, 2), 5.f);
    t.at<float>(1, -1) = 9;
    CHECK_VALUES(t, 0, 1, 2, 3, 4, 9);
    CHECK_EQ(t.t().at<float>(2, 1), 9.f);
    CHECK_EQ(t[1].at<float>(0), 3.f);
    CHECK_EQ((t[{1, 0}].at<float>()), 3.f);
    CHECK_THROWS(t.at<float>(2, 0), th::Status::ErrArgument, "at: index 2 out of range for size 2 of dimension 0");
    CHECK_THROWS(t.at<float>(0, -4), th::Status::ErrArgument, "at: index -4 out of range for size 3 of dimension 1");
    CHECK_THROWS(t.at<float>(0), th::Status::ErrArgument, "at: 1 indices for a tensor with 2 dimensions: there must be one for each");
    CHECK_THROWS(t.at<int>(0, 0), th::Status::ErrDtype, "at: ");
    // An element of any dtype is returned as a number.
    CHECK_EQ(t.getAt({1, 2}), 9.0);
    t.setAt_({0, 0}, 4);
    CHECK_EQ(t.getAt({0, 0}), 4.0);
}

static void elements_beyond_the_storage_are_not_reached() {
    Tensor t = th::ones({4}), fresh = Tensor::take(THTensor_newWithDtype(TH_FLOAT32));
    t.storage().resize(2);
    CHECK_EQ(t.at<float>(1), 1.f);
    CHECK_THROWS(t.at<float>(2), th::Status::ErrShape, "at: the elements lie beyond the storage");
    CHECK_THROWS(t.data<float>(), th::Status::ErrShape, "data: ");
    CHECK_THROWS(t.elements<float>(), th::Status::ErrShape, "elements: ");
    // A fresh tensor has no elements.
    CHECK(!fresh.data<float>());
    CHECK_EQ(fresh.elements<float>().size(), 0u);
    CHECK_THROWS(fresh.at<float>(), th::Status::ErrShape, "at: ");
    CHECK_THROWS(fresh.at<float>(0), th::Status::ErrArgument, "at: ");
}

static void a_single_element_is_an_item() {
    CHECK_EQ(th::tensor(2.5).item(), 2.5);
    CHECK_EQ(th::tensor({{7}}).item<int>(), 7);
    CHECK_EQ(th::tensor(true).item<bool>(), true);
    const int64_t beyond_double = (int64_t{1} << 53) + 1;
    CHECK_EQ(th::tensor(beyond_double).item<int64_t>(), beyond_double);
}

static void braces_make_a_tensor() {
    Tensor t = th::tensor({{1, 2, 3}, {4, 5, 6}});
    CHECK_SIZES(t, 2, 3);
    CHECK(t.dtype() == th::int64);
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK(th::tensor({1.0, 2.0}).dtype() == th::float32);
    CHECK(th::tensor({1, 2.5}).dtype() == th::float32);
    CHECK_VALUES(th::tensor({1, 2.5}), 1, 2.5);
    CHECK(th::tensor({true, false}).dtype() == th::Dtype::Bool);
    CHECK(th::tensor({1, 2}, th::uint8).dtype() == th::uint8);
    CHECK(th::tensor({0.1}, th::float64).item() == 0.1);
    CHECK_EQ(th::tensor(3).dim(), 0);
    CHECK_SIZES(th::tensor({3}), 1);
    CHECK_SIZES(th::tensor({{{1}, {2}}}), 1, 2, 1);
    CHECK_SIZES(th::tensor({}), 0);
    CHECK(th::tensor({}).dtype() == th::float32);
    CHECK_THROWS(th::tensor({{1, 2}, {3}}), th::Status::ErrShape, "tensor: the lists of a dimension differ in length");
    CHECK_THROWS(th::tensor({{1, 2}, 3}), th::Status::ErrShape, "tensor: ");
    CHECK_THROWS(th::tensor({1, {2, 3}}), th::Status::ErrShape, "tensor: ");
}

static void ranges_make_a_tensor() {
    CHECK_VALUES(th::tensor(std::vector<float>{1, 2, 3}), 1, 2, 3);
    CHECK(th::tensor(std::vector<float>{1}).dtype() == th::float32);
    CHECK(th::tensor(std::vector<double>{1}).dtype() == th::float64);
    CHECK(th::tensor(std::array<int, 2>{1, 2}).dtype() == th::int32);
    CHECK(th::tensor(std::vector<int>{1}, th::float16).dtype() == th::float16);
    CHECK_VALUES(th::tensor(std::list<short>{3, 4}), 3, 4);
    CHECK_VALUES(th::tensor(std::vector<bool>{true, false}), 1, 0);
    CHECK(th::tensor(std::vector<bool>{true}).dtype() == th::Dtype::Bool);
    const int64_t plain[] = {5, 6};
    CHECK_VALUES(th::tensor(plain), 5, 6);
    std::vector<std::vector<double>> rows{{1, 2}, {3, 4}, {5, 6}};
    CHECK_SIZES(th::tensor(rows), 3, 2);
    CHECK_VALUES(th::tensor(rows), 1, 2, 3, 4, 5, 6);
    rows[1].pop_back();
    CHECK_THROWS(th::tensor(rows), th::Status::ErrShape, "tensor: the ranges of a dimension differ in length");
    CHECK_SIZES(th::tensor(std::vector<float>()), 0);
}

static void memory_is_copied_or_shared() {
    double memory[6] = {0, 1, 2, 3, 4, 5};
    Tensor copy = th::fromData({2, 3}, memory), shared = th::fromBlob(memory, {2, 3}),
           strided = th::fromBlob(memory, {3, 2}, {1, 3});
    memory[1] = 9;
    CHECK_VALUES(copy, 0, 1, 2, 3, 4, 5);
    CHECK_VALUES(shared, 0, 9, 2, 3, 4, 5);
    CHECK_VALUES(strided, 0, 3, 9, 4, 2, 5);
    shared.zero_();
    CHECK_EQ(memory[5], 0.0);
}

static void foreign_memory_is_freed_once_by_its_owner() {
    int freed = 0;
    {
        Tensor view;
        {
            auto deleter = [&freed](float *data) {
                freed++;
                delete[] data;
            };
            Tensor t = th::fromBlob(new float[3]{1, 2, 3}, {3}, deleter);
            view = t(th::slice(1, 3));
        }
        CHECK_EQ(freed, 0);
        CHECK_VALUES(view, 2, 3);
    }
    CHECK_EQ(freed, 1);

    // A deleter may own the memory that it frees.
    auto owner = std::make_shared<std::vector<int>>(std::vector<int>{4, 5});
    std::weak_ptr<std::vector<int>> seen = owner;
    Tensor t = th::fromBlob(owner->data(), {2}, [owner](int *) {});
    owner.reset();
    CHECK(!seen.expired());
    CHECK_VALUES(t, 4, 5);
    t = Tensor();
    CHECK(seen.expired());

    // A failed call does not call the deleter.
    int element = 0;
    CHECK_THROWS(th::fromBlob(&element, {-1}, [&freed](int *) { freed = 100; }), th::Status::ErrShape, "fromBlob: ");
    CHECK_EQ(freed, 1);
}

static void a_vector_becomes_a_tensor() {
    std::vector<float> values(6);
    std::iota(values.begin(), values.end(), 0.f);
    const float *data = values.data();
    Tensor t = th::fromVector(std::move(values), {2, 3});
    CHECK_EQ(t.data<float>(), data);
    CHECK_VALUES(t, 0, 1, 2, 3, 4, 5);
    CHECK_VALUES(th::fromVector(std::vector<int>{1, 2}), 1, 2);
    CHECK_SIZES(th::fromVector(std::vector<int>()), 0);
    CHECK_SIZES(th::fromVector(std::vector<int>(), {0, 3}), 0, 3);
    CHECK_THROWS(th::fromVector(std::vector<int>{1, 2}, {3}), th::Status::ErrShape, "fromVector: ");
}

#ifdef __cpp_lib_mdspan
static void a_tensor_is_an_mdspan() {
    Tensor t = th::arange(6, th::float32).view({2, 3});
    auto rows = t.mdspan<float, 2>();
    CHECK_EQ(rows.extent(1), 3);
    auto columns = t.t().mdspan<float, 2>();
    columns[2, 0] = 8;
    CHECK_EQ((rows[0, 2]), 8.f);
    CHECK_THROWS((t.mdspan<float, 1>()), th::Status::ErrShape, "mdspan: ");
    CHECK_THROWS((t.mdspan<double, 2>()), th::Status::ErrDtype, "mdspan: ");
    // An mdspan has no strides of 0.
    CHECK_THROWS((t[0].expand({2, 3}).mdspan<float, 2>()), th::Status::ErrShape, "mdspan: the tensor is expanded");
    CHECK_EQ((th::zeros({0, 3}).mdspan<float, 2>().extent(1)), 3);
}
#define MDSPAN , CASE(a_tensor_is_an_mdspan)
#else
#define MDSPAN
#endif

CHECK_MAIN(CASE(types_have_dtypes), CASE(data_has_the_type_of_the_elements), CASE(elements_are_a_range),
           CASE(an_element_is_read_and_written), CASE(elements_beyond_the_storage_are_not_reached),
           CASE(a_single_element_is_an_item), CASE(braces_make_a_tensor), CASE(ranges_make_a_tensor),
           CASE(memory_is_copied_or_shared), CASE(foreign_memory_is_freed_once_by_its_owner),
           CASE(a_vector_becomes_a_tensor) MDSPAN)
