import tile.language as tl


# r = m / (sqrt(v) + eps), trust = |param| / (|r| + eps) with the 2-norms of the whole tensors, new_param = param - lr * trust * r.
# Each core leaves the sums of squares of its part in `parts`, 8 floats apart, first those of param, then those of r; then each
# core adds all of them up.
@ascend_kernel
def lamb_kernel(param, m, v, new_param, parts, lr, eps, cores, total, per_core, tile):
    pid = tl.program_id(0)
    start = pid * per_core
    end = min(start + per_core, total)
    param_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=4)
    m_ub = tl.alloc_ub(tile, dtype=tl.float32)
    v_ub = tl.alloc_ub(tile, dtype=tl.float32)
    r_ub = tl.alloc_ub(tile, dtype=tl.float32)
    t_ub = tl.alloc_ub(tile, dtype=tl.float32)
    param_sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    r_sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    new_param_ub = tl.alloc_ub(tile, dtype=tl.float32)
    param_part_ub = tl.alloc_ub(8, dtype=tl.float32)
    r_part_ub = tl.alloc_ub(8, dtype=tl.float32)
    parts_ub = tl.alloc_ub(cores * 16, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(param_sum_ub, 0.0)
        tl.duplicate(r_sum_ub, 0.0)
        tl.duplicate(param_part_ub, 0.0)
        tl.duplicate(r_part_ub, 0.0)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(param + offsets, param_ub, mask=offsets < end, other=0.0)
            tl.load(m + offsets, m_ub, mask=offsets < end, other=0.0)
            tl.load(v + offsets, v_ub, mask=offsets < end, other=0.0)
        with tl.compute():
            tl.vsqrt(r_ub, v_ub)
            tl.vadd(r_ub, r_ub, eps)
            tl.vdiv(r_ub, m_ub, r_ub)
            tl.vmul(r_ub, r_ub, r_ub)
            tl.vadd(r_sum_ub, r_sum_ub, r_ub)
            tl.vmul(t_ub, param_ub, param_ub)
            tl.vadd(param_sum_ub, param_sum_ub, t_ub)
    with tl.compute():
        tl.reduce_sum(param_part_ub, param_sum_ub, t_ub)
        tl.reduce_sum(r_part_ub, r_sum_ub, t_ub)
    with tl.copyout():
        tl.store(parts + pid * 8, param_part_ub)
        tl.store(parts + (cores + pid) * 8, r_part_ub)
    tl.sync_all()
    with tl.copyin():
        tl.load(parts, parts_ub)
    with tl.compute():
        tl.reduce_sum(param_part_ub, parts_ub, t_ub, count=cores * 8)
        tl.reduce_sum(r_part_ub, parts_ub + cores * 8, t_ub, count=cores * 8)
        trust = (
            tl.sqrt(tl.extract_scalar(param_part_ub, 0)) /
            (tl.sqrt(tl.extract_scalar(r_part_ub, 0)) + eps)
        )
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(param + offsets, param_ub, mask=offsets < end)
            tl.load(m + offsets, m_ub, mask=offsets < end)
            tl.load(v + offsets, v_ub, mask=offsets < end)
        with tl.compute():
            tl.vsqrt(r_ub, v_ub)
            tl.vadd(r_ub, r_ub, eps)
            tl.vdiv(r_ub, m_ub, r_ub)
            tl.vmul(r_ub, r_ub, lr * trust)
            tl.vsub(new_param_ub, param_ub, r_ub)
        with tl.copyout():
            tl.store(new_param + offsets, new_param_ub, mask=offsets < end)


def lamb_host(
    param: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    new_param: torch.Tensor,
    lr=1e-3,
    eps=1e-6,
    tile: tl.constexpr = 1536,
):
    total = param.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    parts = torch.empty(cores * 16, dtype=tl.float32)
    lamb_kernel[cores](param, m, v, new_param, parts, lr, eps, cores, total, per_core, tile)
