"""Random numbers."""

from operands import ANY, POSITIVE, between

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
