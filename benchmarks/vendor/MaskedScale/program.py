import tile.language as tl


# y = x * mask * scale, element by element. A mask of integers of 8 bits becomes float16, which holds all of them, then float32.
@ascend_kernel
def masked_scale_kernel(x, mask, y, scale, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    kind = tl.float32 if mask.dtype.is_floating_point else mask.dtype
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mask_ub = tl.alloc_ub(tile, dtype=kind)
    half_ub = tl.alloc_ub(tile, dtype=tl.float16)
    wide_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
            tl.load(mask + at, mask_ub, count=n)
        with tl.compute():
            if not mask.dtype.is_floating_point:
                tl.cast(half_ub, mask_ub, count=n)
                tl.cast(wide_ub, half_ub, count=n)
                tl.vmul(y_ub, x_ub, wide_ub, count=n)
            else:
                tl.vmul(y_ub, x_ub, mask_ub, count=n)
            tl.vmul_scalar(y_ub, y_ub, scale, count=n)
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def masked_scale_host(x: torch.Tensor, mask: torch.Tensor, y: torch.Tensor, scale=1.0, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    masked_scale_kernel[cores](x, mask, y, scale, total, per_core, tile)
