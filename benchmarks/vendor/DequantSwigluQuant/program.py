import tile.language as tl


# A row of x is two halves, rest and gate; of int32 times weight_scale of its column and activation_scale of its row. o = silu(gate) *
# rest * quant_scale, scale = max|o| / 127, y = round(o / scale). Cores take whole rows, many at once where they are short.
@ascend_kernel
def dequant_swiglu_quant_kernel(
    x,
    weight_scale,
    activation_scale,
    quant_scale,
    y,
    scale,
    rows,
    half,
    per_core,
    step,
    pitch,
    tile,
    wide,
):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    kind = tl.int32 if x.dtype == tl.int32 else tl.float32
    gate_in_ub = tl.alloc_ub(tile, dtype=kind)
    rest_in_ub = tl.alloc_ub(tile, dtype=kind)
    gate_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rest_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.int8)
    weight_ub = tl.alloc_ub(wide, dtype=tl.float32)
    quant_ub = tl.alloc_ub(wide, dtype=tl.float32)
    activation_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    most_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    factor_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    scale_ub = tl.alloc_ub(tile // 32, dtype=tl.float32)
    with tl.copyin():
        tl.load(quant_scale, quant_ub, count=half)
    if x.dtype == tl.int32:
        with tl.copyin():
            tl.load(weight_scale, weight_ub, count=half)
        # quant_scale is a factor of o as rest's scale is.
        with tl.compute():
            tl.vmul(quant_ub, quant_ub, weight_ub, count=half)
        with tl.copyin():
            tl.load(weight_scale + half, weight_ub, count=half)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load_rows(x + 2 * row * half, rest_in_ub, n, half, 2 * half, pitch)
            tl.load_rows(x + (2 * row + 1) * half, gate_in_ub, n, half, 2 * half, pitch)
        if x.dtype == tl.int32:
            with tl.copyin():
                tl.load(activation_scale + row, activation_ub, count=n)
            with tl.compute():
                tl.cast(gate_ub, gate_in_ub, count=n * pitch)
                tl.cast(rest_ub, rest_in_ub, count=n * pitch)
                tl.vmul_row(gate_ub, gate_ub, weight_ub, n, half, pitch)
                tl.vmul_col(gate_ub, gate_ub, activation_ub, n, half, pitch)
                tl.vmul_row(rest_ub, rest_ub, quant_ub, n, half, pitch)
                tl.vmul_col(rest_ub, rest_ub, activation_ub, n, half, pitch)
                tl.vmul(rest_ub, rest_ub, gate_ub, count=n * pitch)
        else:
            with tl.compute():
                tl.vmul_row(rest_ub, rest_in_ub, quant_ub, n, half, pitch)
                tl.vmul(rest_ub, rest_ub, gate_in_ub, count=n * pitch)
                tl.vadd_scalar(gate_ub, gate_in_ub, 0.0, count=n * pitch)
        with tl.compute():
            tl.vmul_scalar(gate_ub, gate_ub, -1.0, count=n * pitch)
            tl.vexp(gate_ub, gate_ub, count=n * pitch)
            tl.vadd_scalar(gate_ub, gate_ub, 1.0, count=n * pitch)
            tl.vdiv(rest_ub, rest_ub, gate_ub, count=n * pitch)
            tl.vabs(gate_ub, rest_ub, count=n * pitch)
            tl.row_max(most_ub, gate_ub, n, half, pitch)
            tl.duplicate(factor_ub, 127.0, count=n)
            tl.vdiv(factor_ub, factor_ub, most_ub, count=n)
            tl.vmul_scalar(scale_ub, most_ub, 1.0 / 127.0, count=n)
            tl.vmul_col(gate_ub, rest_ub, factor_ub, n, half, pitch)
            tl.cast(y_ub, gate_ub, count=n * pitch)
        with tl.copyout():
            tl.store_rows(y + row * half, y_ub, n, half, half, pitch)
            tl.store(scale + row, scale_ub, count=n)


def dequant_swiglu_quant_host(
    x: torch.Tensor,
    weight_scale: torch.Tensor = None,
    activation_scale: torch.Tensor = None,
    bias: torch.Tensor = None,
    quant_scale: torch.Tensor = None,
    y: torch.Tensor = None,
    scale: torch.Tensor = None,
    tile: tl.constexpr = 4128,
):
    rows, width = x.shape
    if rows * width == 0:
        return
    half = width // 2
    pitch = tl.cdiv(half, 32) * 32
    assert pitch <= tile
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8))
    per_core = tl.cdiv(tl.cdiv(rows, cores), 8) * 8
    step = min(tile // pitch, per_core)
    dequant_swiglu_quant_kernel[cores](
        x,
        weight_scale,
        activation_scale,
        quant_scale,
        y,
        scale,
        rows,
        half,
        per_core,
        step,
        pitch,
        tile,
        pitch,
    )
