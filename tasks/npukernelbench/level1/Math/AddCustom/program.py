import tile.language as tl


# z = x + y, element by element.
@ascend_kernel
def add_custom_kernel(x, y, z, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    z_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
            tl.load(y + offsets, y_ub, mask=offsets < end)
        with tl.compute():
            tl.vadd(z_ub, x_ub, y_ub)
        with tl.copyout():
            tl.store(z + offsets, z_ub, mask=offsets < end)


def add_custom_host(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 16384))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    add_custom_kernel[cores](x, y, z, total, per_core, tile)
