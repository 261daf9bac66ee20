import tile.language as tl


# As DequantSwigluQuant, of rows of which not all fits into UB at once: o is made of a row piece by piece and stays there.
@ascend_kernel
def dequant_swiglu_quant_wide_kernel(
    x,
    weight_scale,
    activation_scale,
    quant_scale,
    y,
    scale,
    rows,
    half,
    wide,
    tile,
):
    kind = tl.int32 if x.dtype == tl.int32 else tl.float32
    gate_in_ub = tl.alloc_ub(tile, dtype=kind)
    rest_in_ub = tl.alloc_ub(tile, dtype=kind)
    gate_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rest_ub = tl.alloc_ub(tile, dtype=tl.float32)
    quant_ub = tl.alloc_ub(wide, dtype=tl.float32)
    weight_ub = tl.alloc_ub(wide, dtype=tl.float32)
    o_ub = tl.alloc_ub(wide, dtype=tl.float32)
    work_ub = tl.alloc_ub(wide, dtype=tl.float32)
    y_ub = tl.alloc_ub(wide, dtype=tl.int8)
    part_ub = tl.alloc_ub(16, dtype=tl.float32)
    scale_ub = tl.alloc_ub(16, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(o_ub, 0.0)
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
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        for at in range(0, half, tile):
            n = min(tile, half - at)
            with tl.copyin():
                tl.load(x + 2 * row * half + at, rest_in_ub, count=n)
                tl.load(x + (2 * row + 1) * half + at, gate_in_ub, count=n)
            if x.dtype == tl.int32:
                factor = tl.extract_scalar(activation_scale, row)
                with tl.compute():
                    tl.cast(gate_ub, gate_in_ub, count=n)
                    tl.cast(rest_ub, rest_in_ub, count=n)
                    tl.vmul(gate_ub, gate_ub, weight_ub + at, count=n)
                    tl.vmul_scalar(gate_ub, gate_ub, factor, count=n)
                    tl.vmul(rest_ub, rest_ub, quant_ub + at, count=n)
                    tl.vmul_scalar(rest_ub, rest_ub, factor, count=n)
                    tl.vmul(rest_ub, rest_ub, gate_ub, count=n)
                    tl.vmul_scalar(gate_ub, gate_ub, -1.0, count=n)
            else:
                with tl.compute():
                    tl.vmul(rest_ub, rest_in_ub, quant_ub + at, count=n)
                    tl.vmul(rest_ub, rest_ub, gate_in_ub, count=n)
                    tl.vmul_scalar(gate_ub, gate_in_ub, -1.0, count=n)
            with tl.compute():
                tl.vexp(gate_ub, gate_ub, count=n)
                tl.vadd_scalar(gate_ub, gate_ub, 1.0, count=n)
                tl.vdiv(o_ub + at, rest_ub, gate_ub, count=n)
        with tl.compute():
            tl.vabs(work_ub, o_ub, count=half)
            tl.row_max(part_ub, work_ub, 1, half, tl.pitch(half))
            tl.vmul_scalar(scale_ub, part_ub, 1.0 / 127.0, count=1)
            tl.vmul_scalar(o_ub, o_ub, 127.0 / tl.extract_scalar(part_ub, 0), count=half)
            tl.cast(y_ub, o_ub, count=half)
        with tl.copyout():
            tl.store(y + row * half, y_ub, count=half)
            tl.store(scale + row, scale_ub, count=1)


def dequant_swiglu_quant_wide_host(
    x: torch.Tensor,
    weight_scale: torch.Tensor = None,
    activation_scale: torch.Tensor = None,
    bias: torch.Tensor = None,
    quant_scale: torch.Tensor = None,
    y: torch.Tensor = None,
    scale: torch.Tensor = None,
    tile: tl.constexpr = 1376,
    wide: tl.constexpr = 4160,
):
    rows, width = x.shape
    if rows * width == 0:
        return
    half = width // 2
    assert half <= wide
    dequant_swiglu_quant_wide_kernel[min(tl.num_vec_cores(), rows)](
        x,
        weight_scale,
        activation_scale,
        quant_scale,
        y,
        scale,
        rows,
        half,
        wide,
        tile,
    )
