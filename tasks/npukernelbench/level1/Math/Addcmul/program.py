import tile.language as tl


# y = input_data + x1 * x2 * value, element by element.
@ascend_kernel
def addcmul_kernel(input_data, x1, x2, y, value, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    # float16 is rounded after each step, as the published operator rounds it.
    kind = tl.float32 if x1.dtype == tl.bfloat16 else x1.dtype
    input_data_ub = tl.alloc_ub(tile, dtype=kind)
    x1_ub = tl.alloc_ub(tile, dtype=kind)
    x2_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(input_data + offsets, input_data_ub, mask=offsets < end)
            tl.load(x1 + offsets, x1_ub, mask=offsets < end)
            tl.load(x2 + offsets, x2_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(y_ub, x1_ub, x2_ub)
            tl.vmul(y_ub, y_ub, value)
            tl.vadd(y_ub, input_data_ub, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def addcmul_host(
    input_data: torch.Tensor,
    x1: torch.Tensor,
    x2: torch.Tensor,
    y: torch.Tensor,
    value: int | float,
    tile: tl.constexpr = 1536,
):
    total = input_data.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    addcmul_kernel[cores](input_data, x1, x2, y, value, total, per_core, tile)
