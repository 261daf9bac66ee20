import tile.language as tl


# a = beta1 * m + (1 - beta1) * grad, b = beta2 * v + (1 - beta2) * grad^2,
# new_param = param - lr * (a / (1 - beta1^step)) / (sqrt(b / (1 - beta2^step)) + eps), element by element.
@ascend_kernel
def adam_kernel(
    param,
    grad,
    m,
    v,
    new_param,
    beta1,
    rest1,
    beta2,
    rest2,
    eps,
    rate,
    correction2,
    total,
    per_core,
    tile,
):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    root_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(param + offsets, param_ub, mask=offsets < end)
            tl.load(grad + offsets, grad_ub, mask=offsets < end)
            tl.load(m + offsets, m_ub, mask=offsets < end)
            tl.load(v + offsets, v_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(root_ub, grad_ub, grad_ub)
            tl.vmul(root_ub, root_ub, rest2)
            tl.vaxpy(root_ub, v_ub, beta2)
            tl.vdiv(root_ub, root_ub, correction2)
            tl.vsqrt(root_ub, root_ub)
            tl.vadd(root_ub, root_ub, eps)
            tl.vmul(new_param_ub, grad_ub, rest1)
            tl.vaxpy(new_param_ub, m_ub, beta1)
            tl.vmul(new_param_ub, new_param_ub, rate)
            tl.vdiv(new_param_ub, new_param_ub, root_ub)
            tl.vsub(new_param_ub, param_ub, new_param_ub)
        with tl.copyout():
            tl.store(new_param + offsets, new_param_ub, mask=offsets < end)


def adam_host(
    param: torch.Tensor,
    grad: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    new_param: torch.Tensor,
    beta1: float = 0.9,
    beta2: float = 0.999,
    lr: float = 1e-3,
    eps: float = 1e-8,
    step=1,
    tile: tl.constexpr = 2048,
):
    total = param.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    adam_kernel[cores](
        param,
        grad,
        m,
        v,
        new_param,
        beta1,
        1.0 - beta1,
        beta2,
        1.0 - beta2,
        eps,
        lr / (1.0 - beta1**step),
        1.0 - beta2**step,
        total,
        per_core,
        tile,
    )
