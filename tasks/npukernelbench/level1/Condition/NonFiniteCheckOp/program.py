import tile.language as tl


# found_flag is 1 if any element of the tensors is infinite or nan, else 0. Each core leaves in `flags`, 8 floats apart, what it
# found; then core 0 looks there.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def non_finite_check_kernel(tensor_list, found_flag, flags, cores, per_core, tile):
    pid = tl.program_id(0)
    start = pid * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    bad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    worst_ub = tl.alloc_ub(tile, dtype=tl.float32)
    finite_ub = tl.alloc_ub(tile, dtype=tl.bool)
    flag_ub = tl.alloc_ub(8, dtype=tl.float32)
    flags_ub = tl.alloc_ub(cores * 8, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(worst_ub, 0.0)
        tl.duplicate(flag_ub, 0.0)
    begin = 0
    for t in range(len(tensor_list)):
        end = min(start + per_core - begin, tensor_list[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(tensor_list[t] + offsets, x_ub, mask=offsets < end, other=0.0)
            with tl.compute():
                tl.vabs(bad_ub, x_ub)
                tl.vlt(finite_ub, bad_ub, math.inf)
                tl.vselect(bad_ub, finite_ub, 0.0, 1.0)
                tl.vmax(worst_ub, worst_ub, bad_ub)
        begin += tl.cdiv(tensor_list[t].numel(), 64) * 64
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
            tl.store(found_flag, flag_ub, count=1)


def non_finite_check_host(
    tensor_list: list[torch.Tensor],
    found_flag: torch.Tensor,
    tile: tl.constexpr = 2048,
):
    total = 0
    for t in range(len(tensor_list)):
        total += tl.cdiv(tensor_list[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 8192))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    flags = torch.empty(cores * 8, dtype=tl.float32)
    non_finite_check_kernel[cores](tensor_list, found_flag, flags, cores, per_core, tile)
