
// ==================================================================================================================
//     Exported programs
// ==================================================================================================================

/// A tensor of a program and its name. The name is valid as long as the program.
struct NamedTensor {
    const char *name;
    Tensor tensor;
};

/// The smallest and the largest size of a dimension; INT64_MAX if the size has no bound.
struct SizeRange {
    int64_t min, max;
};

/// A model that PyTorch exported: `th::Program p("model.pt2"); std::vector<th::Tensor> out = p(x, y);`. Copies refer to
/// the same program. Optimizers accept `parameters()`.
class Program : public detail::Counted<THProgram, THProgram_retain, THProgram_free> {
  public:
    Program() noexcept = default;
    /// Opens a file of torch.export.save.
    explicit Program(Text path)
        : Counted(detail::must(THProgram_open(path.c_str()), static_cast<THProgram *>(nullptr), "Program")) {}
    /// Takes over a reference.
    static Program take(THProgram *handle) noexcept { return Program(handle); }

    /// The outputs for these inputs, in the order of PyTorch. An output that is None is an undefined tensor.
    std::vector<Tensor> run(TensorList inputs) const {
        std::vector<Tensor> outputs;
        run_out(outputs, inputs);
        return outputs;
    }
    /// Writes the outputs to `outputs`. If the list is empty, it becomes a list of new tensors.
    std::vector<Tensor> &run_out(std::vector<Tensor> &outputs, TensorList inputs) const {
        if (outputs.empty()) outputs = detail::fresh(static_cast<int>(outputCount()));
        for (Tensor &output : outputs) detail::result(output);
        detail::check(THProgram_run(reinterpret_cast<THTensor *const *>(outputs.data()),
                                    static_cast<int>(outputs.size()), handle_, inputs.data(), inputs.count()),
                      "run");
        for (Tensor &output : outputs)
            if (output.get()->dtype == TH_UNDEFINED) output = Tensor();
        return outputs;
    }
    std::vector<Tensor> operator()(TensorList inputs) const { return run(inputs); }
    /// The outputs for one or several inputs.
    template <class... More> std::vector<Tensor> operator()(const Tensor &first, const More &...more) const {
        return run({first, more...});
    }
    /// The output of a program that has one output.
    template <class... More> Tensor forward(const Tensor &first, const More &...more) const {
        std::vector<Tensor> outputs = run({first, more...});
        if (outputs.size() == 1) return std::move(outputs[0]);
        if (!outputs.empty()) detail::fail("forward", Status::ErrArgument, "the program has several outputs");
        return Tensor();
    }

    /// The ranges of the sizes of input `index`.
    std::vector<SizeRange> inputSizes(int64_t index) const {
        return ranges(inputNdim(index), THProgram_inputMinSizes, THProgram_inputMaxSizes, index);
    }
    /// The ranges of the sizes of output `index`.
    std::vector<SizeRange> outputSizes(int64_t index) const {
        return ranges(outputNdim(index), THProgram_outputMinSizes, THProgram_outputMaxSizes, index);
    }
    /// The parameters, in the order of the program: `th::Optim::adam(p.parameters())`.
    std::vector<Tensor> parameters() const {
        return listed<Tensor>(parameterCount(), [this](int64_t k) { return parameter(parameterName(k)); });
    }
    /// The parameters and their names.
    std::vector<NamedTensor> namedParameters() const {
        return listed<NamedTensor>(parameterCount(), [this](int64_t k) {
            const char *name = parameterName(k);
            return NamedTensor{name, parameter(name)};
        });
    }
    /// The buffers and their names.
    std::vector<NamedTensor> namedBuffers() const {
        return listed<NamedTensor>(bufferCount(), [this](int64_t k) {
            const char *name = bufferName(k);
            return NamedTensor{name, buffer(name)};
        });
    }
    /// The value of a key of the metadata, such as `torch_version`; NULL if there is none.
    const char *metadata(Text key) const {
        for (int64_t k = 0, count = metadataCount(); k < count; k++) {
            if (detail::same(metadataKey(k), key.c_str())) return metadataValue(k);
        }
        return nullptr;
    }
@methods THProgram

  private:
    using Counted::Counted;

    template <class T, class F> static std::vector<T> listed(int64_t count, F entry) {
        std::vector<T> list;
        for (int64_t k = 0; k < count; k++) list.push_back(entry(k));
        return list;
    }

    using Sizes = const int64_t *(const THProgram *, int64_t);
    std::vector<SizeRange> ranges(int64_t ndim, Sizes *least, Sizes *most, int64_t index) const {
        const int64_t *min = least(handle_, index), *max = most(handle_, index);
        return listed<SizeRange>(min && max ? ndim : 0, [=](int64_t d) { return SizeRange{min[d], max[d]}; });
    }
};
