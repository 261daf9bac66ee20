import tile.language as tl


# y = min(max(x, clip_value_min), clip_value_max), element by element. The limits are tensors of one element.
@ascend_kernel
def clip_by_value_kernel(x, clip_value_min, clip_value_max, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if x.dtype.is_floating_point else x.dtype
    x_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=kind)
    low = tl.extract_scalar(clip_value_min, 0)
    high = tl.extract_scalar(clip_value_max, 0)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vmax(y_ub, x_ub, low)
            tl.vmin(y_ub, y_ub, high)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def clip_by_value_host(
    x: torch.Tensor,
    clip_value_min: torch.Tensor,
    clip_value_max: torch.Tensor,
    y: torch.Tensor,
    tile: tl.constexpr = 4096,
):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    clip_by_value_kernel[cores](x, clip_value_min, clip_value_max, y, total, per_core, tile)
