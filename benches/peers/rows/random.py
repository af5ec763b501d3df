"""Random numbers."""

from operands import ANY, POSITIVE, UNIT, Operand, between

from .row import over


def random():
    def drawn(op, dtypes, call, torch, numpy=None, **given):
        """Random numbers, which differ between the libraries. With a seed, thorn's are the same in each call."""
        shape = given.pop("shape", "1e6")
        return over(op, dtypes, shape, f"(THRandom_manualSeed(NULL, 1), {call})", torch, numpy, checked=("nothing",), **given)

    filled = {"result": ANY}
    generator = "np.random.default_rng(1)."
    return [
        *drawn("rand", "f32 f64", "THTensor_uniform(r, NULL, 0, 1)", "r.uniform_()", generator + "random(dtype=r.dtype, out=r)", **filled),
        *drawn("randn", "f32 f64", "THTensor_normal(r, NULL, 0, 1)", "r.normal_()", generator + "standard_normal(dtype=r.dtype, out=r)", **filled),
        *drawn("exponential", "f32", "THTensor_exponential(r, NULL, 1)", "r.exponential_()", generator + "standard_exponential(dtype=r.dtype, out=r)", **filled),
        *drawn("cauchy", "f32", "THTensor_cauchy(r, NULL, 0, 1)", "r.cauchy_()", **filled),
        *drawn("logNormal", "f32", "THTensor_logNormal(r, NULL, 0, 1)", "r.log_normal_(0, 1)", **filled),
        *drawn("geometric", "i64", "THTensor_geometric(r, NULL, 0.5)", "r.geometric_(0.5)", **filled),
        *drawn("bernoulli", "bool f32", "THTensor_bernoulli(r, NULL, 0.3)", "r.bernoulli_(0.3)", **filled),
        *drawn("randint", "i64 i32", "THTensor_clampedRandom(r, NULL, 0, 100)", "r.random_(0, 100)", generator + "integers(0, 100, n)", **filled),
        *drawn("randperm", "i64", "THTensor_randperm(r, NULL, n)", "torch.randperm(n, out=r)", generator + "permutation(n)", **filled),
        *drawn("poisson", "f32", "THTensor_poissonTensor(r, NULL, a)", "torch.poisson(a)", a=POSITIVE),
        *drawn("dropout", "f32", "THTensor_dropout(r, NULL, NULL, a, 0.3)", "torch.nn.functional.dropout(a, 0.3)"),
        *drawn("alpha dropout", "f32", "THTensor_alphaDropout(r, NULL, NULL, a, 0.3)", "torch.nn.functional.alpha_dropout(a, 0.3, True)"),
        *drawn("multinomial", "f32", "THTensor_multinomial(r, NULL, a, 10000, 1)", "torch.multinomial(a, 10000, True)", shape="1e3", a=POSITIVE),
        *drawn("multinomial once", "f32", "THTensor_multinomial(r, NULL, a, 1000, 0)", "torch.multinomial(a, 1000)", shape="1e5", a=POSITIVE),
    ]


def more_random():
    """Distributions with tensors of parameters, initial weights, and fresh results. The numbers differ between the libraries."""

    seed = "THRandom_manualSeed(NULL, 1)"

    def drawn(op, call, torch, numpy=None, shape="1e6", dtypes="f32", fresh=True, **given):
        call = f"({seed}, THTensor_{call})"
        return over(op, dtypes, shape, f"FRESH({call})" if fresh else call, torch, numpy, checked=("nothing",), **given)

    def made(op, call, torch, numpy=None, shape="1e6"):
        return over(op, "f32", shape, f"MADE(({seed}, THTensor_new{call}))", torch, numpy, checked=("nothing",))

    def init(op, call, torch):
        return over(op, "f32", "1000x1000", f"({seed}, THTensor_{call})", f"torch.nn.init.{torch}", None, result=ANY, checked=("nothing",))

    half, filled = {"a": UNIT}, {"result": ANY, "fresh": False}
    generator, sizes = "np.random.default_rng(1).", "NULL, ndim, shape"
    return [
        *drawn("normal of means", "normal_means(r, NULL, a, 1)", "torch.normal(a, 1.0)", f"{generator}normal(a, 1)"),
        *drawn("normal of deviations", "normal_stddevs(r, NULL, 0, a)", "torch.normal(0.0, a)", f"{generator}normal(0, a)", a=POSITIVE),
        *drawn("normal of both", "normal_means_stddevs(r, NULL, a, b)", "torch.normal(a, b)", f"{generator}normal(a, b)", b=POSITIVE),
        *drawn("truncated normal", "truncNormal(r, NULL, 0, 1, -2, 2)", "torch.nn.init.trunc_normal_(r)", **filled),
        *drawn("gamma", "gamma(r, NULL, 2, 1)", "torch._standard_gamma(torch.full((n,), 2.0))", f"{generator}standard_gamma(2, n)", **filled),
        *drawn("gamma of tensors", "gammaTensor(r, NULL, a, b)", "torch._standard_gamma(a) * b", f"{generator}gamma(a, b)", a=POSITIVE, b=POSITIVE),
        *drawn("beta", "beta(r, NULL, 2, 3)", "torch.distributions.Beta(2.0, 3.0).sample((n,))", f"{generator}beta(2, 3, n)", **filled),
        *drawn("beta of tensors", "betaTensor(r, NULL, a, b)", "torch.distributions.Beta(a, b).sample()", f"{generator}beta(a, b)", a=POSITIVE, b=POSITIVE),
        *drawn("bernoulli of tensor", "bernoulliTensor(r, NULL, a)", "torch.bernoulli(a)", f"{generator}random(n) < a", **half),
        *drawn("poisson 4", "poisson(r, NULL, 4)", "torch.poisson(torch.full((n,), 4.0))", f"{generator}poisson(4, n)", **filled),
        *drawn("binomial 10", "binomial(r, NULL, 10, 0.3)", "torch.binomial(torch.full((n,), 10.0), torch.full((n,), 0.3))", f"{generator}binomial(10, 0.3, n)", **filled),
        *drawn("binomial of tensors", "binomialTensor(r, NULL, a, b)", "torch.binomial(a, b)", f"{generator}binomial(a.astype(np.int64), b)", a=Operand(between, (10, 20)).whole(), b=UNIT),
        *drawn("random", "random(r, NULL)", "r.random_()", dtypes="i64", **filled),
        *drawn("random below", "cappedRandom(r, NULL, 100)", "r.random_(100)", f"{generator}integers(0, 100, n)", dtypes="i64", **filled),
        *init("xavier uniform", "xavierUniform(r, NULL, 1)", "xavier_uniform_(r)"),
        *init("xavier normal", "xavierNormal(r, NULL, 1)", "xavier_normal_(r)"),
        *init("kaiming uniform", "kaimingUniform(r, NULL, 0, TH_FAN_IN)", "kaiming_uniform_(r)"),
        *init("kaiming normal", "kaimingNormal(r, NULL, 0, TH_FAN_IN)", "kaiming_normal_(r)"),
        *drawn("rand of sizes", f"rand(r, {sizes})", "torch.rand(shape, out=r)", fresh=False),
        *drawn("randn of sizes", f"randn(r, {sizes})", "torch.randn(shape, out=r)", fresh=False),
        *drawn("randint of sizes", "randint(r, NULL, 0, 100, ndim, shape)", "torch.randint(0, 100, shape, out=r)", dtypes="i64", fresh=False),
        *drawn("rand like", "randLike(r, NULL, a)", "torch.rand_like(a)"),
        *drawn("randn like", "randnLike(r, NULL, a)", "torch.randn_like(a)"),
        *drawn("randint like", "randintLike(r, NULL, a, 0, 100)", "torch.randint_like(a, 0, 100)"),
        *made("rand, new", f"Rand(TH_FLOAT32, {sizes})", "torch.rand(shape)", f"{generator}random(shape, np.float32)"),
        *made("randn, new", f"Randn(TH_FLOAT32, {sizes})", "torch.randn(shape)", f"{generator}standard_normal(shape, np.float32)"),
        *made("randint, new", "Randint(TH_INT64, NULL, 0, 100, ndim, shape)", "torch.randint(0, 100, shape)", f"{generator}integers(0, 100, shape)"),
        *made("rand like, new", "RandLike(a, NULL)", "torch.rand_like(a)"),
        *made("randn like, new", "RandnLike(a, NULL)", "torch.randn_like(a)"),
        *made("randint like, new", "RandintLike(a, NULL, 0, 100)", "torch.randint_like(a, 0, 100)"),
        *made("randperm, new", "Randperm(TH_INT64, NULL, n)", "torch.randperm(n)", f"{generator}permutation(n)"),
        *drawn("alias tables", "multinomialAliasSetup(a, i, r)", None, None, "1e4", fresh=False, a=UNIT, i=ANY.of("i64")),
        *drawn("alias draw", "multinomialAliasDraw(r, NULL, i, a)", "torch.multinomial(a, n, True)", None, "1e4", fresh=False, a=UNIT, i=Operand(between, (0, 10_000), "i64"), result=ANY.of("i64")),
        *drawn("feature dropout", "featureDropout(r, NULL, NULL, a, 0.3)", "torch.feature_dropout(a, 0.3, True)", None, "8x64x56x56"),
        *drawn("feature alpha dropout", "featureAlphaDropout(r, NULL, NULL, a, 0.3)", "torch.feature_alpha_dropout(a, 0.3, True)", None, "8x64x56x56"),
    ]
