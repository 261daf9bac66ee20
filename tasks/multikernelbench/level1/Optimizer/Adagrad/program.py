import tile.language as tl


# a = accum + grad^2, new_param = param - lr * grad / (sqrt(a) + eps), element by element.
@ascend_kernel
def adagrad_kernel(param, grad, accum, new_param, lr, eps, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    accum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    root_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(param + offsets, param_ub, mask=offsets < end)
            tl.load(grad + offsets, grad_ub, mask=offsets < end)
            tl.load(accum + offsets, accum_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(root_ub, grad_ub, grad_ub)
            tl.vadd(root_ub, root_ub, accum_ub)
            tl.vsqrt(root_ub, root_ub)
            tl.vadd(root_ub, root_ub, eps)
            tl.vmul(new_param_ub, grad_ub, lr)
            tl.vdiv(new_param_ub, new_param_ub, root_ub)
            tl.vsub(new_param_ub, param_ub, new_param_ub)
        with tl.copyout():
            tl.store(new_param + offsets, new_param_ub, mask=offsets < end)


def adagrad_host(
    param: torch.Tensor,
    grad: torch.Tensor,
    accum: torch.Tensor,
    new_param: torch.Tensor,
    lr: float = 1e-2,
    eps: float = 1e-10,
    tile: tl.constexpr = 2048,
):
    total = param.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    adagrad_kernel[cores](param, grad, accum, new_param, lr, eps, total, per_core, tile)
