
/// A block of elements of one dtype. Tensors are views of it. Copies refer to the same block.
class Storage : public detail::Counted<THStorage, THStorage_retain, THStorage_free> {
  public:
    Storage() noexcept = default;
    using Counted::get;
    /// Takes over a reference.
    static Storage take(THStorage *handle) noexcept { return Storage(handle); }
    /// Adds a reference to a handle, whose owner keeps its own.
    static Storage share(THStorage *handle) noexcept {
        THStorage_retain(handle);
        return Storage(handle);
    }
@methods THStorage

  private:
    using Counted::Counted;
};

/// A stream of random numbers. An undefined Generator, `{}`, means the calling thread's generator.
class Generator : public detail::Owned<THGenerator, THGenerator_free> {
  public:
    /// The calling thread's generator.
    Generator() noexcept = default;
    /// A new generator that begins at `seed`.
    explicit Generator(uint64_t seed)
        : Owned(detail::must(THGenerator_new(), static_cast<THGenerator *>(nullptr), "Generator")) {
        manualSeed(seed);
    }
    /// A new generator of this kind with a random seed.
    explicit Generator(GeneratorKind kind)
        : Owned(detail::must(THGenerator_newKind(static_cast<THGeneratorKind>(kind)),
                             static_cast<THGenerator *>(nullptr), "Generator")) {}
    /// Takes over a handle.
    static Generator take(THGenerator *handle) noexcept { return Generator(handle); }
@methods THGenerator

  private:
    using Owned::Owned;
};

/// Seeds the calling thread's generator.
inline void manualSeed(uint64_t seed) { Generator().manualSeed(seed); }
/// Seeds the calling thread's generator from the system and returns the seed.
inline uint64_t seed() { return Generator().seed(); }
/// The seed that the calling thread's generator was started with.
inline uint64_t initialSeed() { return Generator().initialSeed(); }

class CudaEvent;

/// A queue of work for a GPU.
class CudaStream : public detail::Counted<THCudaStream, THCudaStream_retain, THCudaStream_free> {
  public:
    CudaStream() noexcept = default;
    /// Takes over a reference.
    static CudaStream take(THCudaStream *handle) noexcept { return CudaStream(handle); }
    /// Makes work that is given to the stream from now on wait for the event.
    void waitEvent(const CudaEvent &event) const;
    /// Calls `function()` on a thread of the driver once the stream's current work is done. The function must not
    /// throw, and must not call CUDA or functions of this header that do.
    template <class F> void addCallback(F function) const {
        F *kept = new F(std::move(function));
        const THCudaCallback call = [](void *context) noexcept {
            (*static_cast<F *>(context))();
            delete static_cast<F *>(context);
        };
        const THStatus status = THCudaStream_addCallback(get(), call, kept);
        if (status != TH_OK) delete kept;
        detail::check(status, "addCallback");
    }
@methods THCudaStream

  private:
    using Counted::Counted;
};

/// A point in a stream that can be waited for and timed.
class CudaEvent : public detail::Counted<THCudaEvent, THCudaEvent_retain, THCudaEvent_free> {
  public:
    CudaEvent() noexcept = default;
    /// Takes over a reference.
    static CudaEvent take(THCudaEvent *handle) noexcept { return CudaEvent(handle); }
@methods THCudaEvent

  private:
    using Counted::Counted;
};

/// Recorded work for a GPU that can be repeated.
class CudaGraph : public detail::Counted<THCudaGraph, THCudaGraph_retain, THCudaGraph_free> {
  public:
    CudaGraph() noexcept = default;
    /// Takes over a reference.
    static CudaGraph take(THCudaGraph *handle) noexcept { return CudaGraph(handle); }
@methods THCudaGraph

  private:
    using Counted::Counted;
};

inline void CudaStream::waitEvent(const CudaEvent &event) const {
    detail::check(THCudaStream_waitEvent(get(), event.get()), "waitEvent");
}
