import tile.language as tl


# found_inf becomes 1 if any element of the tensors is infinite or nan, else 0; then each element is multiplied by inv_scale, in
# place; by 0 it becomes 0, whatever it was. Each core leaves in `flags`, 8 floats apart, what it found; then core 0 looks there.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def unscale_kernel(scaled_grads, found_inf, inv_scale, flags, cores, per_core, tile):
    pid = tl.program_id(0)
    start = pid * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    bad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    worst_ub = tl.alloc_ub(tile, dtype=tl.float32)
    finite_ub = tl.alloc_ub(tile, dtype=tl.bool)
    flag_ub = tl.alloc_ub(8, dtype=tl.float32)
    flags_ub = tl.alloc_ub(cores * 8, dtype=tl.float32)
    scale = tl.extract_scalar(inv_scale, 0)
    with tl.compute():
        tl.duplicate(worst_ub, 0.0)
        tl.duplicate(flag_ub, 0.0)
    begin = 0
    for t in range(len(scaled_grads)):
        end = min(start + per_core - begin, scaled_grads[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(scaled_grads[t] + offsets, x_ub, mask=offsets < end, other=0.0)
            with tl.compute():
                tl.vabs(bad_ub, x_ub)
                tl.vlt(finite_ub, bad_ub, math.inf)
                tl.vselect(bad_ub, finite_ub, 0.0, 1.0)
                tl.vmax(worst_ub, worst_ub, bad_ub)
                if scale == 0:
                    tl.duplicate(y_ub, 0.0)
                else:
                    tl.vmul(y_ub, x_ub, scale)
            with tl.copyout():
                tl.store(scaled_grads[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(scaled_grads[t].numel(), 64) * 64
    with tl.compute():
        tl.reduce_max(flag_ub, worst_ub, bad_ub)
    with tl.copyout():
        tl.store(flags + pid * 8, flag_ub)
    tl.sync_all()
    if pid == 0:
        with tl.copyin():
            tl.load(flags, flags_ub)
        with tl.compute():
            tl.reduce_max(flag_ub, flags_ub, bad_ub, count=cores * 8)
        with tl.copyout():
            tl.store(found_inf, flag_ub, count=1)


def unscale_host(
    scaled_grads: list[torch.Tensor],
    found_inf: torch.Tensor,
    inv_scale: torch.Tensor,
    tile: tl.constexpr = 2048,
):
    total = 0
    for t in range(len(scaled_grads)):
        total += tl.cdiv(scaled_grads[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    flags = torch.empty(cores * 8, dtype=tl.float32)
    unscale_kernel[cores](scaled_grads, found_inf, inv_scale, flags, cores, per_core, tile)
