import tile.language as tl


# With e = exp(-1.702 * |x|): z = dy * (e + 1.702 * x * e + exp(1.702 * (x - |x|))) / (e + 1)^2, element by element.
@ascend_kernel
def fast_gelu_grad_kernel(dy, x, z, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    dy_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    z_ub = tl.alloc_ub(tile, dtype=tl.float32)
    e_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(dy + offsets, dy_ub, mask=offsets < end)
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vabs(e_ub, x_ub)
            tl.vsub(z_ub, x_ub, e_ub)
            tl.vmul(z_ub, z_ub, 1.702)
            tl.vexp(z_ub, z_ub)
            tl.vmul(e_ub, e_ub, -1.702)
            tl.vexp(e_ub, e_ub)
            tl.vadd(z_ub, z_ub, e_ub)
            tl.vmul(t_ub, x_ub, e_ub)
            tl.vmul(t_ub, t_ub, 1.702)
            tl.vadd(z_ub, z_ub, t_ub)
            tl.vmul(z_ub, z_ub, dy_ub)
            tl.vadd(e_ub, e_ub, 1.0)
            tl.vmul(e_ub, e_ub, e_ub)
            tl.vdiv(z_ub, z_ub, e_ub)
        with tl.copyout():
            tl.store(z + offsets, z_ub, mask=offsets < end)


def fast_gelu_grad_host(
    dy: torch.Tensor,
    x: torch.Tensor,
    z: torch.Tensor,
    tile: tl.constexpr = 4096,
):
    total = dy.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    fast_gelu_grad_kernel[cores](dy, x, z, total, per_core, tile)
