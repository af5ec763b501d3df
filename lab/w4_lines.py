# Lab of kernels over lines: softmax, layer norm, sums and variances of rows. Loads cubins from w4_data/ (sm_90). Prints one line per variant.
import ctypes, os, struct, sys, time, traceback
t0 = time.time()
import torch
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'w4_data') + '/'
cu = ctypes.CDLL('libcuda.so.1')
dev = 'cuda'
torch.manual_seed(1)
torch.zeros(1, device=dev); torch.cuda.synchronize()
SMS = torch.cuda.get_device_properties(0).multi_processor_count
LIMIT = float(os.environ.get('LAB_SECONDS', 22))
F32, BF16 = 8, 7
mods, out = {}, []
def function(mod, sym):
    if mod not in mods:
        m = ctypes.c_void_p()
        rc = cu.cuModuleLoadData(ctypes.byref(m), open(here + mod + '.cubin', 'rb').read())
        assert rc == 0, f'cuModuleLoadData {rc}'
        mods[mod] = m
    f = ctypes.c_void_p()
    rc = cu.cuModuleGetFunction(ctypes.byref(f), mods[mod], sym.encode())
    assert rc == 0, f'cuModuleGetFunction {sym} {rc}'
    return f
def launcher(mod, sym, blocks, threads, args):
    f = function(mod, sym)
    buf = ctypes.create_string_buffer(args, len(args))
    ptrs = (ctypes.c_void_p * 1)(ctypes.cast(buf, ctypes.c_void_p))
    def go():
        rc = cu.cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, ctypes.c_void_p(0), ptrs, None)
        assert rc == 0, f'launch {rc}'
    go.keep = (buf, ptrs)
    return go
def measure(go, reps):
    go(); go()
    evs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(reps)]
    for a, b in evs:
        a.record(); go(); b.record()
    torch.cuda.synchronize()
    times = sorted(a.elapsed_time(b) * 1000 for a, b in evs)
    return times[len(times) // 2]
def say(s): print(s, flush=True); out.append(s)
def section(title, bytes_, torch_go, reps=12):
    us = None
    try:
        us = measure(torch_go, reps)
        say(f'## {title}: PyTorch {us:.1f} us, {bytes_ / us / 1000:.0f} GB/s')
    except Exception as e: say(f'## {title}: PyTorch failed {e!r}')
    return bytes_, us
def variant(sec, mod, sym, blocks, threads, args, r, check, note='', reps=12):
    if time.time() - t0 > LIMIT: return
    bytes_, torch_us = sec
    name = f'{mod}.{sym} {note}'
    try:
        r.fill_(float('nan'))
        go = launcher(mod, sym, blocks, threads, args)
        go(); torch.cuda.synchronize()
        ok = check()
        us = measure(go, reps)
        say(f'{name:46s} {ok:14s} {us:8.1f} us {bytes_ / us / 1000:6.0f} GB/s x{(torch_us or 0) / us:.2f}')
    except Exception as e:
        say(f'{name:46s} FAILED {e!r}')
        if 'illegal' in repr(e) or '700' in repr(e) or '719' in repr(e): raise
def loops3(total, steps, n=1):
    narrow = 1
    b = struct.pack('<q', total) + struct.pack('<12q', total, *[1] * 11)
    for s in steps: b += struct.pack('<12q', s, *[0] * 11)
    return b + struct.pack('<ii', 1, narrow)
def lines_args(x, r, count, n, outer, step, kind, dtype, unused=0):
    o = loops3(count, [outer, outer if kind < 2 else r.element_size(), 0])
    return (o + struct.pack('<4q', x.data_ptr(), r.data_ptr(), 0, n) + struct.pack('<3q', step, step, 0)
            + struct.pack('<4i', dtype, dtype, 0, 0) + struct.pack('<3q', 0, 1, n) + struct.pack('<2i', kind, unused))
def close(r, want, tol):
    def check():
        bad = ~((r.float() - want).abs() <= tol * want.abs() + 1e-30)
        n = int(bad.sum().item())
        err = ((r.float() - want).abs() / want.abs().clamp_min(1e-30)).max().item()
        return f'ok {err:.1e}' if n == 0 else f'WRONG {n} {err:.0e}'
    return check
cap = lambda jobs: max(1, min(jobs, SMS * 32))
def softmax_part():
    q = 10000
    x = torch.randn(q, q, device=dev); r = torch.empty_like(x)
    want = torch.softmax(x, 1)
    sec = section('softmax rows 10000 f32', 8 * q * q, lambda: torch.softmax(x, 1, out=r))
    A = lambda kind=0: lines_args(x, r, q, q, 4 * q, 4, kind, F32)
    c = close(r, want, 1e-5)
    go = lambda sym, nt, note='', blocks=None: variant(sec, 'soft', sym, blocks or cap(q), nt, A(), r, c, note)
    go('base_block_f32', 256)
    for nt in (256, 512, 1024):
        for m in (0, 1): go(f'rows_f32_{nt}_{m}', nt)
    go('rows_f32_256_0', 256, 'grid=rows', q)
    go('rows_f32_256_0', 256, 'grid=3/SM', SMS * 3)
    go('rows_f32_1024_0', 1024, 'grid=rows', q)
    go('rows_f32_256_0_b4', 256)
    for p in (2, 4, 8): go(f'online_f32_256_{p}', 256)
    go('online_f32_512_4', 512); go('online_f32_1024_2', 1024)
    go('online_f32s_256_8', 256); go('online_f32s_1024_8', 1024)
    want = torch.log_softmax(x, 1)
    sec = section('log_softmax rows 10000 f32', 8 * q * q, lambda: torch.log_softmax(x, 1, out=r))
    for sym, nt in (('base_block_f32', 256), ('rows_f32_256_0', 256), ('rows_f32_512_0', 512), ('rows_f32_1024_0', 1024)):
        variant(sec, 'soft', sym, cap(q), nt, A(1), r, close(r, want, 1e-5))
    r1 = torch.empty(q, device=dev); wl = torch.logsumexp(x, 1)
    sec = section('logsumexp rows 10000 f32', 4 * q * q, lambda: torch.logsumexp(x, 1, out=r1), 6)
    for sym, nt in (('base_block_f32', 256), ('rows_f32_256_0', 256), ('rows_f32_512_0', 512), ('rows_f32_1024_0', 1024), ('online_f32_256_2', 256),
                    ('online_f32_256_4', 256), ('online_f32_256_8', 256), ('online_f32_512_4', 512), ('online_f32_1024_2', 1024), ('online_f32s_256_8', 256)):
        variant(sec, 'soft', sym, cap(q), nt, lines_args(x, r1, q, q, 4 * q, 4, 2, F32), r1, close(r1, wl, 1e-5))
    want = torch.softmax(x, 0)
    sec = section('softmax columns 10000 f32', 8 * q * q, lambda: torch.softmax(x, 0, out=r), 3)
    def cols(sym, nt, width, note='', reps=8):
        variant(sec, 'soft', sym, cap((q + width - 1) // width if nt != 1 else (q + 255) // 256), nt, lines_args(x, r, q, q, 4, 4 * q, 0, F32, width), r, close(r, want, 2e-5), note, reps)
    variant(sec, 'soft', 'base_single_f32', cap((q + 255) // 256), 256, lines_args(x, r, q, q, 4, 4 * q, 0, F32), r, close(r, want, 2e-5), '', 3)
    for p in (4, 8, 16):
        for width in (16, 32, 64): cols(f'cols_f32_{p}', 256, width, f'width {width}')
    for p in (4, 8):
        for width in (16, 32, 64): cols(f'cols_f32_{p}_1024', 1024, width, f'width {width}')
    for n in (16, 32):
        l = x.view(-1, n); lr = r.view(-1, n); rows = q * q // n
        want = torch.softmax(l, 1)
        sec = section(f'softmax of {n} f32', 8 * q * q, lambda: torch.softmax(l, 1, out=lr))
        c = close(lr, want, 1e-5)
        A = lambda lanes: lines_args(l, lr, rows, n, 4 * n, 4, 0, F32, lanes)
        variant(sec, 'soft', 'base_single_f32', cap((rows + 255) // 256), 256, A(1), lr, c, '', 4)
        lanes = n // 4
        for p in (1, 2, 4, 8):
            for m in (0, 1): variant(sec, 'soft', f'short_f32_{p}_{m}', cap((rows * lanes + 255) // 256), 256, A(lanes), lr, c, f'lanes {lanes}')
        variant(sec, 'soft', 'short_f32_1_0', (rows * lanes + 255) // 256, 256, A(lanes), lr, c, f'lanes {lanes} grid=all')
        for p, la in ((2, lanes // 2), (4, lanes // 4)): variant(sec, 'soft', f'short_f32_{p}_0', cap((rows * la + 255) // 256), 256, A(la), lr, c, f'lanes {la}')
        variant(sec, 'soft', 'short_f32s_1_0', cap((rows * n + 255) // 256), 256, A(n), lr, c, f'scalar lanes {n}')
        for la in (4, 8): variant(sec, 'soft', 'short_f32s_4_0' if n // la <= 4 else 'short_f32s_8_0', cap((rows * la + 255) // 256), 256, A(la), lr, c, f'scalar lanes {la}')
    for n in (128, 256, 1024):
        rows = 80_000_000 // n
        l = x.view(-1)[:rows * n].view(-1, n); lr = r.view(-1)[:rows * n].view(-1, n)
        want = torch.softmax(l, 1); c = close(lr, want, 1e-5)
        sec = section(f'softmax of {n} f32', 8 * rows * n, lambda: torch.softmax(l, 1, out=lr))
        A = lambda lanes=0: lines_args(l, lr, rows, n, 4 * n, 4, 0, F32, lanes)
        for sym in ('base_warp_f32', 'warp_f32_8_0', 'warp_f32_8_1'): variant(sec, 'soft', sym, cap((rows + 7) // 8), 256, A(), lr, c)
        for p in (1, 2, 4, 8):
            lanes = n // 4 // p
            if 1 <= lanes <= 32: variant(sec, 'soft', f'short_f32_{p}_0', cap((rows * lanes + 255) // 256), 256, A(lanes), lr, c, f'lanes {lanes}')
        variant(sec, 'soft', 'short_f32s_8_0', cap((rows * 32 + 255) // 256), 256, A(32), lr, c, 'scalar lanes 32') if n <= 256 else None
        if n == 1024: variant(sec, 'soft', 'online_f32_256_2', cap(rows), 256, A(), lr, c, 'block per row')
    n, rows = 50260, 1900
    l = x.view(-1)[:rows * n].view(-1, n); lr = r.view(-1)[:rows * n].view(-1, n)
    want = torch.softmax(l, 1); c = close(lr, want, 1e-5)
    sec = section('softmax of 50260 f32', 8 * rows * n, lambda: torch.softmax(l, 1, out=lr))
    for sym, nt in (('base_block_f32', 256), ('online_f32_256_4', 256), ('online_f32_256_8', 256), ('online_f32_512_4', 512), ('online_f32_1024_2', 1024), ('online_f32s_256_8', 256), ('online_f32s_1024_8', 1024)):
        variant(sec, 'soft', sym, cap(rows), nt, lines_args(l, lr, rows, n, 4 * n, 4, 0, F32), lr, c)
    del want, x, r, l, lr
    xh = torch.randn(q, q, device=dev).bfloat16(); rh = torch.empty_like(xh)
    want = torch.softmax(xh.float(), 1)
    sec = section('softmax rows 10000 bf16', 4 * q * q, lambda: torch.softmax(xh, 1, out=rh))
    c = close(rh, want, 5e-3)
    A = lambda: lines_args(xh, rh, q, q, 2 * q, 2, 0, BF16)
    for sym, nt in [('base_block_bf16', 256)] + [(f'rows_bf16_{nt}_{m}', nt) for nt in (256, 512, 1024) for m in (0, 1)] + [('rows_bf16_256_0_p10', 256), ('online_bf16_256_4', 256),
                    ('online_bf16_512_2', 512), ('online_bf16s_256_8', 256), ('online_bf16s_1024_8', 1024)]:
        variant(sec, 'soft', sym, cap(q), nt, A(), rh, c)
    l = xh.view(-1, 16); lr = rh.view(-1, 16); rows = q * q // 16
    want = torch.softmax(l.float(), 1)
    sec = section('softmax of 16 bf16', 4 * q * q, lambda: torch.softmax(l, 1, out=lr))
    for sym, lanes in (('base_single_bf16', 1), ('short_bf16_1_0', 2), ('short_bf16_4_0', 2)):
        variant(sec, 'soft', sym, cap((rows * lanes + 255) // 256), 256, lines_args(l, lr, rows, 16, 32, 2, 0, BF16, lanes), lr, close(lr, want, 5e-3), f'lanes {lanes}', 5)
    want = torch.softmax(xh.float(), 0)
    sec = section('softmax columns 10000 bf16', 4 * q * q, lambda: torch.softmax(xh, 0, out=rh), 3)
    for width in (32, 64): variant(sec, 'soft', 'cols_bf16_8', cap((q + width - 1) // width), 256, lines_args(xh, rh, q, q, 2, 2 * q, 0, BF16, width), rh, close(rh, want, 5e-3), f'width {width}')
def norm_part():
    for n, rows in ((10000, 10000), (1024, 90000)):
        x = torch.randn(rows, n, device=dev) * 2 + 1; r = torch.empty_like(x); w = torch.randn(n, device=dev); b = torch.randn(n, device=dev)
        A = lambda x, r, w, b: struct.pack('<9q', x.data_ptr(), w.data_ptr(), b.data_ptr(), 0, r.data_ptr(), 0, 0, 0, 0) + struct.pack('<3qd', rows, n, 1, 1e-5)
        def check(r, x, w, b, tol):
            def f():
                want = torch.nn.functional.layer_norm(x[:500].double(), (n,), w.double(), b.double(), 1e-5)
                err = (r[:500].double() - want).abs().max().item()
                whole = bool(torch.isfinite(r).all().item())
                return f'ok {err:.1e}' if err < tol and whole else f'WRONG {err:.0e}'
            return f
        sec = section(f'layer norm {rows} x {n} f32', 8 * rows * n, lambda: torch.nn.functional.layer_norm(x, (n,), w, b, 1e-5))
        c = check(r, x, w, b, 1e-4)
        names = [('base_256', 256), ('f32_256', 256), ('f32_256_exact', 256), ('f32_512', 512), ('f32_512_exact', 512), ('f32_1024', 1024), ('f32_1024_exact', 1024), ('f32_256_b4', 256)]
        if n == 1024: names = [('base_256', 256), ('f32_256_p2', 256), ('f32_warp8', 256)]
        for sym, nt in names:
            jobs = rows if 'warp' not in sym else (rows + 7) // 8
            variant(sec, 'norm', sym, cap(jobs), nt, A(x, r, w, b), r, c)
        if n > 1024: variant(sec, 'norm', 'f32_512', rows, 512, A(x, r, w, b), r, c, 'grid=rows')
        xh, wh, bh = x.bfloat16(), w.bfloat16(), b.bfloat16(); rh = torch.empty_like(xh)
        del x, r
        sec = section(f'layer norm {rows} x {n} bf16', 4 * rows * n, lambda: torch.nn.functional.layer_norm(xh, (n,), wh, bh, 1e-5))
        c = check(rh, xh, wh, bh, 0.1)
        for sym, nt in ([('bf16_256', 256), ('bf16_512', 512), ('bf16_1024', 1024)] if n > 1024 else [('bf16_warp4', 256)]):
            variant(sec, 'norm', sym, cap(rows if n > 1024 else (rows + 7) // 8), nt, A(xh, rh, wh, bh), rh, c)
        if n > 1024: variant(sec, 'norm', 'bf16_f32_256', cap(rows), 256, A(xh, rh, wh.float(), bh.float()), rh, c)
        del xh, rh
def grad_part():
    q = 10000
    g = torch.randn(q, q, device=dev); y = torch.softmax(torch.randn(q, q, device=dev), 1); r = torch.empty_like(g)
    want = torch.ops.aten._softmax_backward_data(g, y, 1, torch.float32)
    sec = section('softmax gradient rows f32', 12 * q * q, lambda: torch.ops.aten._softmax_backward_data(g, y, 1, torch.float32))
    def c():
        err = ((r - want).abs() / (y * 5)).max().item()
        return f'ok {err:.1e}' if err < 1e-5 else f'WRONG {err:.0e}'
    a = struct.pack('<6q2i', g.data_ptr(), y.data_ptr(), r.data_ptr(), q, q, 1, 0, 0)
    for sym, nt in (('base_soft', 256), ('soft_256', 256), ('soft_512', 512), ('soft_1024', 1024), ('passes_256_2', 256), ('passes_256_4', 256), ('passes_1024_2', 1024)):
        variant(sec, 'grad', sym, cap(q), nt, a, r, c)
    want = torch.ops.aten._softmax_backward_data(g, y, 0, torch.float32)
    sec = section('softmax gradient columns f32', 12 * q * q, lambda: torch.ops.aten._softmax_backward_data(g, y, 0, torch.float32), 2)
    variant(sec, 'grad', 'base_columns', cap((q + 31) // 32), 256, struct.pack('<6q2i', g.data_ptr(), y.data_ptr(), r.data_ptr(), 1, q, q, 0, 0), r, c, '', 4)
    x, w = y, torch.randn(q, device=dev)
    x.normal_()
    mean = x.mean(1, keepdim=True); rstd = 1 / torch.sqrt(x.var(1, correction=0, keepdim=True) + 1e-5)
    aten = torch.ops.aten.native_layer_norm_backward
    want = aten(g, x, [q], mean, rstd, w, w, [True, False, False])[0]
    sec = section('layer norm gradient, of rows only', 12 * q * q, lambda: aten(g, x, [q], mean, rstd, w, w, [True, False, False]))
    def c():
        err = (r - want).abs().max().item()
        return f'ok {err:.1e}' if err < 1e-3 else f'WRONG {err:.0e}'
    standards = torch.zeros(q * 4, device=dev); sums = torch.zeros(4 * q * 2, device=dev, dtype=torch.float64)
    A = lambda r, s, parts=1: struct.pack('<9q', x.data_ptr(), w.data_ptr(), 0, g.data_ptr(), r, s, sums.data_ptr(), 0, 0) + struct.pack('<3qd', q, q, parts, 1e-5)
    for sym, nt in (('base_norm', 256), ('norm_256', 256), ('norm_512', 512), ('norm_1024', 1024)): variant(sec, 'grad', sym, cap(q), nt, A(r.data_ptr(), 0), r, c)
    sec = section('layer norm gradient, all', 24 * q * q, lambda: aten(g, x, [q], mean, rstd, w, w, [True, True, True]))
    none = lambda: 'time only'
    variant(sec, 'grad', 'base_norm', cap(q), 256, A(0, standards.data_ptr()), r, none, 'standards only')
    for parts in (1, 2, 4): variant(sec, 'grad', 'base_sums', cap(313 * parts), 256, A(0, standards.data_ptr(), parts), r, none, f'parts {parts}')
def reduce_part():
    def args(x, r, rows, n, number, dtype, root, i=None, to=F32):
        lanes = 256
        unit = lanes * 16
        segments = max(1, min(-(-1024 // rows), n // (lanes * 32)))
        segment = -(-(-(-n // segments)) // unit) * unit
        es = x.element_size()
        return (loops3(rows, [n * es, r.element_size(), 8]) + struct.pack('<q', n) + struct.pack('<12q', n, *[1] * 11) + struct.pack('<12q', es, *[0] * 11) + struct.pack('<ii', 1, 1)
                + struct.pack('<4q', x.data_ptr(), r.data_ptr(), i.data_ptr() if i is not None else 0, 0) + struct.pack('<2qd', 1, segment, number)
                + struct.pack('<10i', to, 5, dtype, root, 1 if i is not None else 0, 0, 1, 0, 1, 0))
    vs = ['base', 'u4', 'u8', 'sh', 'u4sh', 'u8sh']
    q = 10000
    x = torch.randn(q, q, device=dev); r = torch.empty(q, device=dev)
    want = x.double().sum(1).float()
    sec = section('sum of rows f32', 4 * q * q, lambda: torch.sum(x, 1, out=r))
    c = close(r, want, 1e-3)
    for v in vs: variant(sec, 'red_' + v, 'sum_f32', cap(q), 256, args(x, r, q, q, 0.0, F32, 0), r, c)
    variant(sec, 'red_u4sh', 'sum_f32', q, 256, args(x, r, q, q, 0.0, F32, 0), r, c, 'grid=rows')
    variant(sec, 'red_u4sh', 'sum_f32', SMS * 8, 256, args(x, r, q, q, 0.0, F32, 0), r, c, 'grid=8/SM')
    i = torch.empty(q, device=dev, dtype=torch.int64); wm = x.max(1).values
    sec = section('max of rows f32', 4 * q * q, lambda: torch.max(x, 1, out=(r, i)))
    for v in vs: variant(sec, 'red_' + v, 'maxat_f32', cap(q), 256, args(x, r, q, q, 0.0, F32, 0, i), r, close(r, wm, 1e-7))
    want = x[:, :].var(1, correction=1)
    sec = section('variance of rows f32', 4 * q * q, lambda: torch.var(x, 1, correction=1, out=r))
    for v in vs + ['take', 'u4take', 'u4shtake', 'u8shtake']: variant(sec, 'red_' + v, 'var_f32', cap(q), 256, args(x, r, q, q, 1.0, F32, 0), r, close(r, want, 2e-6))
    # One long sum, cut in segments as rows.
    xh = x.bfloat16(); del x
    want = xh.double().sum(1).float(); rh = torch.empty(q, device=dev)
    sec = section('sum of rows bf16', 2 * q * q, lambda: torch.sum(xh, 1, dtype=torch.float32, out=rh))
    a = args(xh, rh, q, q, 0.0, BF16, 0)
    for v in vs: variant(sec, 'red_' + v, 'sum_bf16', cap(q), 256, a, rh, close(rh, want, 1e-3))
for part in (softmax_part, norm_part, reduce_part, grad_part):
    try: part(); torch.cuda.empty_cache()
    except Exception: traceback.print_exc(file=sys.stdout)
say(f'seconds: {time.time() - t0:.1f}')
