import tile.language as tl


# One step of Adam with a moving average s of the weights, in place, element by element: with g = grad (mode 0: + weight_decay * var),
#   m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2,
#   u = (m / c1) / (sqrt(v / c2) + eps) (mode 1: + weight_decay * var), c = 1 - beta^step or 1,
#   var = var - lr * u, s = ema_decay * s + (1 - ema_decay) * var.
# step is on the device alone: beta^step = exp(step * ln(beta)), and 1 - beta^step is made up for what its rounding loses.
@ascend_kernel
def ema_adam_kernel(
    grad,
    var,
    m,
    v,
    s,
    step,
    lr,
    decay,
    rest,
    beta1,
    rest1,
    log1,
    beta2,
    rest2,
    log2,
    eps,
    mode,
    corrects,
    weight_decay,
    total,
    per_core,
    tile,
):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    s_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    u_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_s_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c1 = 1.0
    c2 = 1.0
    if corrects:
        t = tl.extract_scalar(step, 0)
        power1 = tl.exp(t * log1)
        power2 = tl.exp(t * log2)
        c1 = 1.0 - power1 if power1 < 0.5 else (1.0 - power1) * (t * log1) / tl.log(power1)
        c2 = 1.0 - power2 if power2 < 0.5 else (1.0 - power2) * (t * log2) / tl.log(power2)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(grad + offsets, grad_ub, mask=offsets < end)
            tl.load(var + offsets, var_ub, mask=offsets < end)
            tl.load(m + offsets, m_ub, mask=offsets < end)
            tl.load(v + offsets, v_ub, mask=offsets < end)
            tl.load(s + offsets, s_ub, mask=offsets < end)
        with tl.compute():
            if mode == 0:
                tl.vmul(g_ub, var_ub, weight_decay)
                tl.vadd(g_ub, g_ub, grad_ub)
            else:
                tl.cast(g_ub, grad_ub)
            tl.vmul(new_m_ub, g_ub, rest1)
            tl.vaxpy(new_m_ub, m_ub, beta1)
            tl.vmul(g_ub, g_ub, g_ub)
            tl.vmul(new_v_ub, g_ub, rest2)
            tl.vaxpy(new_v_ub, v_ub, beta2)
            tl.vdiv(g_ub, new_v_ub, c2)
            tl.vsqrt(g_ub, g_ub)
            tl.vadd(g_ub, g_ub, eps)
            tl.vdiv(u_ub, new_m_ub, c1)
            tl.vdiv(u_ub, u_ub, g_ub)
            if mode == 1:
                tl.vaxpy(u_ub, var_ub, weight_decay)
            tl.vmul(u_ub, u_ub, lr)
            tl.vsub(new_var_ub, var_ub, u_ub)
            tl.vmul(new_s_ub, new_var_ub, rest)
            tl.vaxpy(new_s_ub, s_ub, decay)
        with tl.copyout():
            tl.store(var + offsets, new_var_ub, mask=offsets < end)
            tl.store(m + offsets, new_m_ub, mask=offsets < end)
            tl.store(v + offsets, new_v_ub, mask=offsets < end)
            tl.store(s + offsets, new_s_ub, mask=offsets < end)


def ema_adam_host(
    grad: torch.Tensor,
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    s: torch.Tensor,
    step: torch.Tensor,
    lr=1e-3,
    ema_decay=0.9999,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    mode=1,
    bias_correction=True,
    weight_decay=0.0,
    tile: tl.constexpr = 2048,
):
    total = var.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    ema_adam_kernel[cores](
        grad,
        var,
        m,
        v,
        s,
        step,
        lr,
        ema_decay,
        1.0 - ema_decay,
        beta1,
        1.0 - beta1,
        math.log(beta1),
        beta2,
        1.0 - beta2,
        math.log(beta2),
        eps,
        mode,
        bias_correction,
        weight_decay,
        total,
        per_core,
        tile,
    )
