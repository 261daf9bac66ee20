import tile.language as tl


# y = ln(1 + exp(x)), element by element, as max(x, 0) + ln(u) + (e - (u - 1)) / u with e = exp(-|x|) and
# u = 1 + e rounded: what it loses is made up for.
@ascend_kernel
def softplus_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    e_ub = tl.alloc_ub(tile, dtype=tl.float32)
    u_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vabs(e_ub, x_ub)
            tl.vneg(e_ub, e_ub)
            tl.vexp(e_ub, e_ub)
            tl.vadd(u_ub, e_ub, 1.0)
            tl.vsub(y_ub, u_ub, 1.0)
            tl.vsub(e_ub, e_ub, y_ub)
            tl.vdiv(e_ub, e_ub, u_ub)
            tl.vln(u_ub, u_ub)
            tl.vadd(e_ub, e_ub, u_ub)
            tl.vmax(y_ub, x_ub, 0.0)
            tl.vadd(y_ub, y_ub, e_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def softplus_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    softplus_kernel[cores](x, y, total, per_core, tile)
