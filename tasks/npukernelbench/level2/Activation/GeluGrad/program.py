import tile.language as tl


# z = dy * d, element by element, where d is the derivative of x / (1 + exp(-p)): with t = 1 / (1 + exp(-p)), d = t + (1 - t) * t * q,
# p = 1.5957691 * x + 0.07135482 * x^3 and q = 1.5957691 * x + 0.21406445 * x^3. y, gelu(x), is not needed.
# 1 - t is t of -p: exp(-p) * t would be inf * 0.
@ascend_kernel
def gelu_grad_kernel(dy, x, z, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    dy_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    z_ub = tl.alloc_ub(tile, dtype=tl.float32)
    square_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(dy + offsets, dy_ub, mask=offsets < end)
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(square_ub, x_ub, x_ub)
            tl.vmul(t_ub, square_ub, 0.0713548162726002527220)
            tl.vadd(t_ub, t_ub, 1.595769121605730711759)
            tl.vmul(t_ub, t_ub, x_ub)
            tl.vmul(square_ub, square_ub, 0.2140644488178007)
            tl.vadd(square_ub, square_ub, 1.595769121605730711759)
            tl.vmul(square_ub, square_ub, x_ub)
            tl.vexp(z_ub, t_ub)
            tl.vadd(z_ub, z_ub, 1.0)
            tl.vdiv(square_ub, square_ub, z_ub)
            tl.vneg(t_ub, t_ub)
            tl.vexp(t_ub, t_ub)
            tl.vadd(t_ub, t_ub, 1.0)
            tl.vreciprocal(t_ub, t_ub)
            tl.vadd(square_ub, square_ub, 1.0)
            tl.vmul(z_ub, square_ub, t_ub)
            tl.vmul(z_ub, z_ub, dy_ub)
        with tl.copyout():
            tl.store(z + offsets, z_ub, mask=offsets < end)


def gelu_grad_host(dy: torch.Tensor, x: torch.Tensor, z: torch.Tensor, tile: tl.constexpr = 4096):
    total = dy.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 1024))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    gelu_grad_kernel[cores](dy, x, z, total, per_core, tile)
