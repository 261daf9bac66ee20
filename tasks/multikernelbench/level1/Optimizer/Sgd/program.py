import tile.language as tl


# a = momentum * velocity + grad, new_param = param - lr * a, element by element.
@ascend_kernel
def sgd_kernel(param, grad, velocity, new_param, momentum, lr, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    velocity_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(param + offsets, param_ub, mask=offsets < end)
            tl.load(grad + offsets, grad_ub, mask=offsets < end)
            tl.load(velocity + offsets, velocity_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(new_param_ub, velocity_ub, momentum)
            tl.vadd(new_param_ub, new_param_ub, grad_ub)
            tl.vmul(new_param_ub, new_param_ub, lr)
            tl.vsub(new_param_ub, param_ub, new_param_ub)
        with tl.copyout():
            tl.store(new_param + offsets, new_param_ub, mask=offsets < end)


def sgd_host(
    param: torch.Tensor,
    grad: torch.Tensor,
    velocity: torch.Tensor,
    new_param: torch.Tensor,
    momentum: float = 0.9,
    lr: float = 1e-2,
    tile: tl.constexpr = 2048,
):
    total = param.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sgd_kernel[cores](param, grad, velocity, new_param, momentum, lr, total, per_core, tile)
