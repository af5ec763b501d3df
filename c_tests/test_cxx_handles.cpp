// thorn.hpp: callbacks, generators, storages, fused expressions, files, DLPack, devices.

#include "cxx/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

using th::Tensor;

// A file that is removed at the end of a case.
struct Temporary {
    explicit Temporary(const char *ending) : path("/tmp/thorn_cxx_" + std::to_string(getpid()) + ending) {}
    ~Temporary() { std::remove(path.c_str()); }
    std::string path;
};

static void a_function_is_applied_to_elements() {
    Tensor t = th::tensor({{1.0, 2.0}, {3.0, 4.0}});
    int calls = 0;
    t.apply_([&calls](double x) {
        calls++;
        return x * x;
    });
    CHECK_EQ(calls, 4);
    CHECK_VALUES(t, 1, 4, 9, 16);
    t.map_(th::tensor({10.0, 20.0}), [](double x, double y) { return x + y; });
    CHECK_VALUES(t, 11, 24, 19, 36);
    t.map2_(t, th::tensor(2.0), [](double x, double y, double z) { return x - y + z; });
    CHECK_VALUES(t, 2, 2, 2, 2);
    // A named function object may be applied, too.
    auto half = [](double x) { return x / 2; };
    CHECK_VALUES(t.apply_(half), 1, 1, 1, 1);
}

static void an_exception_of_a_function_comes_out_of_the_call() {
    Tensor t = th::tensor({1.0, 2.0, 3.0});
    try {
        t.apply_([](double x) {
            if (x == 2) throw std::out_of_range("two");
            return -x;
        });
        CHECK(false);
    } catch (const std::out_of_range &error) {
        CHECK_EQ(std::string(error.what()), "two");
    }
    CHECK_VALUES(t, -1, 2, 3);
    try {
        t.map_(t, [](double, double) -> double { throw 5; });
        CHECK(false);
    } catch (int thrown) {
        CHECK_EQ(thrown, 5);
    }
    CHECK_THROWS(t.map_(th::ones({2}), [](double x, double) { return x; }), th::Status::ErrShape, "map_: ");
}

static void a_generator_repeats_its_numbers() {
    th::Generator a(42), b(42);
    Tensor x = th::randn(a, {3, 2}), y = th::randn(b, {3, 2});
    CHECK(th::equal(x, y));
    CHECK(!th::equal(x, th::randn(a, {3, 2})));
    CHECK_EQ(a.initialSeed(), 42u);
    a.manualSeed(1);
    b.manualSeed(1);
    CHECK_EQ(a.uniform(), b.uniform());
    CHECK_EQ(a.normal(5, 0), 5.0);
    th::Generator c(th::GeneratorKind::Mt19937);
    CHECK(c.kind() == th::GeneratorKind::Mt19937);
    c.copy(a);
    CHECK_EQ(c.uniform(), a.uniform());

    Tensor state = th::getRNGState(a);
    const double next = a.uniform();
    th::setRNGState(a, state);
    CHECK_EQ(a.uniform(), next);

    // Without a generator, the thread's generator is used.
    CHECK_SIZES(th::rand({4, 5}), 4, 5);
    CHECK_EQ(th::randperm(5).sumall(), 10.0);
    Tensor filled = th::empty({100}).uniform_(2, 3);
    CHECK((filled >= 2).logicalall() && (filled < 3).logicalall());
    CHECK_SIZES(filled.bernoulli_(a, 0.5), 100);
    CHECK_VALUES(th::bernoulli(th::tensor({0.0, 1.0})), 0, 1);
    CHECK_VALUES(th::normal(th::tensor({1.0, 2.0}), 0), 1, 2);
    CHECK(th::randint(10, {3}).dtype() == th::int64);
}

static void a_storage_is_shared_by_views() {
    Tensor t = th::arange(6, th::float32).view({2, 3});
    th::Storage s = t.storage();
    CHECK_EQ(s.size(), 6);
    CHECK(s.dtype() == th::float32);
    s.set(1, 9);
    CHECK_VALUES(t, 0, 9, 2, 3, 4, 5);
    CHECK_EQ(s.get(1), 9.0);
    CHECK_EQ(t[1].storage().get(), s.get());
    CHECK_EQ(t[1].storageOffset(), 3);
    CHECK_VALUES(th::withStorage(s, 1, {2, 2}, {3, 1}), 9, 2, 4, 5);
    CHECK_VALUES(th::withStorage(s), 0, 9, 2, 3, 4, 5);
    th::Storage own = th::Storage::withSize(3, th::int32);
    own.fill(4);
    CHECK_VALUES(th::withStorage(own), 4, 4, 4);
    CHECK_THROWS(own.get(3), th::Status::ErrArgument, "get: ");
}

static void an_expression_is_computed_in_one_pass() {
    th::Fused f("a * b + 1");
    CHECK_EQ(f.nInputs(), 2);
    CHECK_EQ(std::string(f.inputName(1)), "b");
    Tensor a = th::tensor({1.0, 2.0}), b = th::tensor({3.0, 4.0});
    CHECK_VALUES(f({a, b}), 4, 9);
    Tensor r;
    CHECK_EQ(&f.run_out(r, {a, a}), &r);
    CHECK_VALUES(r, 2, 5);
    CHECK_THROWS(th::Fused("a +"), th::Status::ErrArgument, "Fused: ");
    CHECK_THROWS(f({a}), th::Status::ErrArgument, "run: ");
}

static void files_keep_tensors() {
    Temporary npy(".npy"), safetensors(".safetensors");
    Tensor t = th::tensor({{1.5, 2.5}});
    t.save(npy.path);
    CHECK(th::equal(th::load(npy.path), t));

    th::Archive out = th::Archive::create(safetensors.path);
    out.add("weight", t);
    out.add("bias", th::tensor({1, 2, 3}));
    out.addMetadata("note", "a test");
    out.close();
    th::Archive in = th::Archive::open(safetensors.path);
    CHECK_EQ(in.count(), 2);
    CHECK(in.format() == th::FileFormat::Safetensors);
    CHECK_EQ(std::string(in.metadata("note")), "a test");
    CHECK(in.metadata("nothing") == nullptr);
    CHECK_EQ(in.find("nothing"), -1);
    CHECK(in.sizes(in.find("bias")) == th::IntList{3});
    CHECK(th::equal(in.tensor("weight"), t));
    CHECK(th::equal(in.tensor(in.find("weight")), t));
    CHECK_VALUES(in.read(in.find("bias")), 1, 2, 3);
    CHECK_THROWS(in.tensor(7), th::Status::ErrArgument, "tensor: ");
    CHECK_THROWS(in.tensor("nothing"), th::Status::ErrArgument, "tensor: ");
}

// A reader over the bytes of a file.
struct Reader {
    std::string bytes;
    int64_t at = 0;
    bool broken = false;
    ptrdiff_t read(void *buffer, ptrdiff_t size) {
        if (broken) throw std::runtime_error("no more");
        const int64_t left = static_cast<int64_t>(bytes.size()) - at, count = size < left ? size : left;
        std::memcpy(buffer, bytes.data() + at, static_cast<std::size_t>(count));
        at += count;
        return count;
    }
    int64_t seek(int64_t offset, int whence) {
        return at = offset + (whence == 2 ? static_cast<int64_t>(bytes.size()) : 0);
    }
};

static void a_reader_of_the_caller_is_an_archive() {
    Temporary npy(".npy");
    th::tensor({4, 5, 6}).save(npy.path);
    Reader reader;
    FILE *file = std::fopen(npy.path.c_str(), "rb");
    char buffer[4096];
    reader.bytes.assign(buffer, std::fread(buffer, 1, sizeof buffer, file));
    std::fclose(file);
    th::Archive archive = th::Archive::openReader(reader);
    CHECK_VALUES(archive.tensor(0), 4, 5, 6);
    reader.broken = true;
    CHECK_THROWS(archive.tensor(0), th::Status::ErrIo, "tensor: ");
    CHECK_THROWS(th::Archive::openReader(reader), th::Status::ErrIo, "openReader: ");
}

static void dlpack_hands_tensors_over() {
    Tensor t = th::arange(4);
    DLManagedTensorVersioned *lent = t.toDLPack();
    Tensor taken = th::fromDLPack(lent);
    CHECK_EQ(taken.data(), t.data());
    CHECK_VALUES(taken, 0, 1, 2, 3);
    DLManagedTensor *legacy = t.toDLPackLegacy();
    CHECK_VALUES(th::fromDLPackLegacy(legacy), 0, 1, 2, 3);
}

static void a_device_that_is_missing_is_an_error() {
    CHECK(th::zeros({1}).deviceType() == th::DeviceType::Cpu);
    CHECK(!th::zeros({1}).isCuda());
    CHECK(th::equal(th::ones({2}).cpu(), th::ones({2})));
    if (THCuda_deviceCount() > 0) return;
    CHECK_THROWS(th::zeros({1}).cuda(), th::Status::ErrCuda, "cuda: ");
    CHECK_THROWS(th::CudaStream(0), th::Status::ErrCuda, "CudaStream: ");
    CHECK_THROWS(th::CudaEvent(0), th::Status::ErrCuda, "CudaEvent: ");
    CHECK_THROWS(th::CudaGraph::begin(), th::Status::ErrCuda, "begin: ");
}

static void the_library_is_set_up() {
    CHECK_EQ(std::string(th::dtypeName(th::bfloat16)), "bfloat16");
    CHECK(th::dtypeFromName("float64") == th::float64);
    CHECK(th::dtypePromote(th::int32, th::float32) == th::float32);
    CHECK_EQ(th::dtypeSize(th::int16), 2u);
    const int threads = th::getNumThreads();
    th::setNumThreads(1);
    CHECK_EQ(th::getNumThreads(), 1);
    th::setNumThreads(threads);
    CHECK(th::memoryStats().allocations > 0);
    CHECK_EQ(th::abiVersion(), TH_ABI_VERSION);
    CHECK(std::strstr(th::cdefChapter("Arithmetic").c_str(), "THTensor_cmul"));
}

CHECK_MAIN(CASE(a_function_is_applied_to_elements), CASE(an_exception_of_a_function_comes_out_of_the_call),
           CASE(a_generator_repeats_its_numbers), CASE(a_storage_is_shared_by_views),
           CASE(an_expression_is_computed_in_one_pass), CASE(files_keep_tensors),
           CASE(a_reader_of_the_caller_is_an_archive), CASE(dlpack_hands_tensors_over),
           CASE(a_device_that_is_missing_is_an_error), CASE(the_library_is_set_up))
