import tile.language as tl


# One step of AdamW, in place, element by element: with t = step + 1 and g = grad, or -grad to maximize,
#   m = m + (1 - beta1) * (g - m), v = beta2 * v + (1 - beta2) * g^2,
#   u = v, with amsgrad u = max_grad_norm = max(v, max_grad_norm),
#   var = var * (1 - lr * weight_decay) - lr / (1 - beta1^t) * m / (sqrt(u / (1 - beta2^t)) + eps).
# The published results are rounded to the data type of var after each step. step is on the device alone: beta^t = exp(t * ln(beta)),
# and 1 - beta^t is made up for what its rounding loses.
@ascend_kernel
def adam_w_kernel(
    var,
    m,
    v,
    grad,
    step,
    max_grad_norm,
    lr,
    keep,
    rest1,
    log1,
    beta2,
    rest2,
    log2,
    eps,
    amsgrad,
    sign,
    total,
    per_core,
    tile,
):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    max_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    u_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_var_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_max_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rounded_ub = tl.alloc_ub(tile, dtype=var.dtype)
    t = tl.extract_scalar(step, 0) + 1
    power1 = tl.exp(t * log1)
    power2 = tl.exp(t * log2)
    c1 = 1.0 - power1 if power1 < 0.5 else (1.0 - power1) * (t * log1) / tl.log(power1)
    c2 = 1.0 - power2 if power2 < 0.5 else (1.0 - power2) * (t * log2) / tl.log(power2)
    rate = lr / c1
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(var + offsets, var_ub, mask=offsets < end)
            tl.load(m + offsets, m_ub, mask=offsets < end)
            tl.load(v + offsets, v_ub, mask=offsets < end)
            tl.load(grad + offsets, grad_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(g_ub, grad_ub, sign)
            tl.vmul(new_var_ub, var_ub, keep)
            tl.vsub(new_m_ub, g_ub, m_ub)
            tl.vmul(new_m_ub, new_m_ub, rest1)
            tl.vadd(new_m_ub, m_ub, new_m_ub)
            tl.vmul(new_v_ub, v_ub, beta2)
            if var.dtype != tl.float32:
                tl.cast(rounded_ub, new_var_ub)
                tl.cast(new_var_ub, rounded_ub)
                tl.cast(rounded_ub, new_m_ub)
                tl.cast(new_m_ub, rounded_ub)
                tl.cast(rounded_ub, new_v_ub)
                tl.cast(new_v_ub, rounded_ub)
            tl.vmul(g_ub, g_ub, g_ub)
            tl.vaxpy(new_v_ub, g_ub, rest2)
            if var.dtype != tl.float32:
                tl.cast(rounded_ub, new_v_ub)
                tl.cast(new_v_ub, rounded_ub)
        if amsgrad:
            with tl.copyin():
                tl.load(max_grad_norm + offsets, max_ub, mask=offsets < end)
            with tl.compute():
                tl.vmax(new_max_ub, new_v_ub, max_ub)
                tl.vdiv(u_ub, new_max_ub, c2)
            with tl.copyout():
                tl.store(max_grad_norm + offsets, new_max_ub, mask=offsets < end)
        else:
            with tl.compute():
                tl.vdiv(u_ub, new_v_ub, c2)
        with tl.compute():
            if var.dtype != tl.float32:
                tl.cast(rounded_ub, u_ub)
                tl.cast(u_ub, rounded_ub)
            tl.vsqrt(u_ub, u_ub)
            if var.dtype != tl.float32:
                tl.cast(rounded_ub, u_ub)
                tl.cast(u_ub, rounded_ub)
            tl.vadd(u_ub, u_ub, eps)
            if var.dtype != tl.float32:
                tl.cast(rounded_ub, u_ub)
                tl.cast(u_ub, rounded_ub)
            tl.vmul(g_ub, new_m_ub, rate)
            tl.vdiv(g_ub, g_ub, u_ub)
            tl.vsub(new_var_ub, new_var_ub, g_ub)
        with tl.copyout():
            tl.store(var + offsets, new_var_ub, mask=offsets < end)
            tl.store(m + offsets, new_m_ub, mask=offsets < end)
            tl.store(v + offsets, new_v_ub, mask=offsets < end)


def adam_w_host(
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
    amsgrad=False,
    maximize=False,
    tile: tl.constexpr = 1024,
):
    total = var.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    adam_w_kernel[cores](
        var,
        m,
        v,
        grad,
        step,
        max_grad_norm,
        lr,
        1.0 - lr * weight_decay,
        1.0 - beta1,
        math.log(beta1),
        beta2,
        1.0 - beta2,
        math.log(beta2),
        eps,
        amsgrad,
        -1.0 if maximize else 1.0,
        total,
        per_core,
        tile,
    )
