import tile.language as tl


# out[i] = start + i * step.
@ascend_kernel
def arange_kernel(out, start_value, step, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if out.dtype.is_floating_point else out.dtype
    out_ub = tl.alloc_ub(tile, dtype=kind)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.compute():
            tl.iota(index_ub, at)
            tl.cast(out_ub, index_ub)
            tl.vmul(out_ub, out_ub, step)
            tl.vadd(out_ub, out_ub, start_value)
        with tl.copyout():
            tl.store(out + offsets, out_ub, mask=offsets < end)


def arange_host(
    out: torch.Tensor,
    start: int | float,
    step: int | float,
    tile: tl.constexpr = 1024,
):
    total = out.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    arange_kernel[cores](out, start, step, total, per_core, tile)
