import tile.language as tl


# One step of AdamW, in place, element by element: with t = step + 1,
#   m = beta1 * m + (1 - beta1) * grad, v = beta2 * v + (1 - beta2) * grad^2,
#   var = var * (1 - lr * weight_decay) - lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps).
# step is on the device alone: beta^t = exp(t * ln(beta)), and 1 - beta^t is made up for what its rounding loses.
@ascend_kernel
def apply_adam_w_kernel(var, m, v, grad, step, lr, keep, rest1, log1, beta2, rest2, log2, eps, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t = tl.extract_scalar(step, 0) + 1
    power1 = tl.exp(t * log1)
    power2 = tl.exp(t * log2)
    c1 = 1.0 - power1 if power1 < 0.5 else (1.0 - power1) * (t * log1) / tl.log(power1)
    c2 = 1.0 - power2 if power2 < 0.5 else (1.0 - power2) * (t * log2) / tl.log(power2)
    rate = lr / c1
    back = 1.0 / c2
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(grad + at, grad_ub, count=n)
            tl.load(m + at, m_ub, count=n)
            tl.load(v + at, v_ub, count=n)
            tl.load(var + at, var_ub, count=n)
        with tl.compute():
            tl.vsub(new_m_ub, grad_ub, m_ub, count=n)
            tl.vmul_scalar(new_m_ub, new_m_ub, rest1, count=n)
            tl.vadd(new_m_ub, new_m_ub, m_ub, count=n)
            tl.vmul(work_ub, grad_ub, grad_ub, count=n)
            tl.vmul_scalar(work_ub, work_ub, rest2, count=n)
            tl.vmul_scalar(new_v_ub, v_ub, beta2, count=n)
            tl.vadd(new_v_ub, new_v_ub, work_ub, count=n)
            tl.vmul_scalar(work_ub, new_v_ub, back, count=n)
            tl.vsqrt(work_ub, work_ub, count=n)
            tl.vadd_scalar(work_ub, work_ub, eps, count=n)
            tl.vdiv(work_ub, new_m_ub, work_ub, count=n)
            tl.vmul_scalar(work_ub, work_ub, rate, count=n)
            tl.vmul_scalar(new_var_ub, var_ub, keep, count=n)
            tl.vsub(new_var_ub, new_var_ub, work_ub, count=n)
        with tl.copyout():
            tl.store(m + at, new_m_ub, count=n)
            tl.store(v + at, new_v_ub, count=n)
            tl.store(var + at, new_var_ub, count=n)


def apply_adam_w_host(
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    grad: torch.Tensor,
    step: torch.Tensor,
    max_grad_norm: torch.Tensor = None,
    lr=0.1,
    beta1=0.1,
    beta2=0.1,
    weight_decay=0.1,
    eps=0.1,
    tile: tl.constexpr = 2880,
):
    total = var.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    apply_adam_w_kernel[cores](
        var,
        m,
        v,
        grad,
        step,
        lr,
        1.0 - lr * weight_decay,
        1.0 - beta1,
        math.log(beta1),
        beta2,
        1.0 - beta2,
        math.log(beta2),
        eps,
        total,
        per_core,
        tile,
    )
