import tile.language as tl


# y = max(x1, x2), element by element, in the tensors' own type but for bfloat16, which has no instruction.
@ascend_kernel
def maximum_kernel(x1, x2, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x1.dtype == tl.bfloat16 else x1.dtype
    a_ub = tl.alloc_ub(tile, dtype=kind)
    b_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x1 + at, a_ub, count=n)
            tl.load(x2 + at, b_ub, count=n)
        with tl.compute():
            tl.vmax(y_ub, a_ub, b_ub, count=n)
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def maximum_host(x1: torch.Tensor, x2: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x1.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    maximum_kernel[cores](x1, x2, y, total, per_core, tile)
