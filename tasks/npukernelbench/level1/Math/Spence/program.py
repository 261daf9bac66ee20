import tile.language as tl


# y = spence(x), element by element: the integral of ln(t) / (1 - t) from 1 to x. With u = -ln(t) and t from 1/2 to 1 it is
# the series u - u^2/4 + u^3/36 - u^5/3600 + u^7/211680 - u^9/10886400. Other x come there by
#   spence(t) = pi^2/6 - ln(t) ln(1 - t) - spence(1 - t) and spence(x) = -ln(x)^2 / 2 - spence(1 / x).
@ascend_kernel
def spence_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t_ub = tl.alloc_ub(tile, dtype=tl.float32)
    log_ub = tl.alloc_ub(tile, dtype=tl.float32)
    u_ub = tl.alloc_ub(tile, dtype=tl.float32)
    square_ub = tl.alloc_ub(tile, dtype=tl.float32)
    is_low_ub = tl.alloc_ub(tile, dtype=tl.bool)
    is_high_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            # t = x or 1 / x, at most 1; its logarithm is finite, so that 0 * ln(0) is 0.
            tl.vgt(is_high_ub, x_ub, 1.0)
            tl.vreciprocal(t_ub, x_ub)
            tl.vselect(t_ub, is_high_ub, t_ub, x_ub)
            tl.vmax(log_ub, t_ub, 1e-37)
            tl.vln(log_ub, log_ub)
            # u of t, or of 1 - t where that is larger.
            tl.vlt(is_low_ub, t_ub, 0.5)
            tl.vsub(u_ub, t_ub, 1.0)
            tl.vneg(u_ub, u_ub)
            tl.vselect(u_ub, is_low_ub, u_ub, t_ub)
            tl.vln(u_ub, u_ub)
            tl.vneg(u_ub, u_ub)
            tl.vmul(square_ub, u_ub, u_ub)
            # The odd terms beyond the first, from the last one on; then the first and the even one.
            tl.vmul(y_ub, square_ub, -1.0 / 10886400.0)
            tl.vadd(y_ub, y_ub, 1.0 / 211680.0)
            tl.vmul(y_ub, y_ub, square_ub)
            tl.vadd(y_ub, y_ub, -1.0 / 3600.0)
            tl.vmul(y_ub, y_ub, square_ub)
            tl.vadd(y_ub, y_ub, 1.0 / 36.0)
            tl.vmul(y_ub, y_ub, square_ub)
            tl.vmul(y_ub, y_ub, u_ub)
            tl.vaxpy(y_ub, square_ub, -0.25)
            tl.vadd(y_ub, y_ub, u_ub)
            # pi^2/6 + ln(t) u - y where t is low
            tl.vmul(u_ub, u_ub, log_ub)
            tl.vadd(u_ub, u_ub, math.pi * math.pi / 6.0)
            tl.vsub(u_ub, u_ub, y_ub)
            tl.vselect(y_ub, is_low_ub, u_ub, y_ub)
            # -ln(x)^2 / 2 - y where x is high
            tl.vmul(log_ub, log_ub, log_ub)
            tl.vmul(log_ub, log_ub, -0.5)
            tl.vsub(log_ub, log_ub, y_ub)
            tl.vselect(y_ub, is_high_ub, log_ub, y_ub)
            tl.vlt(is_low_ub, x_ub, 0.0)
            tl.vselect(y_ub, is_low_ub, math.nan, y_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def spence_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 1024):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    spence_kernel[cores](x, y, total, per_core, tile)
