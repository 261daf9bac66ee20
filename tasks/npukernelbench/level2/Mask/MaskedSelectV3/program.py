import tile.language as tl


# y = the elements of x where mask is true, one behind the other. Each core counts the true ones
# of its share, all wait, and each begins to store behind those of the cores before it. 8-bit
# elements go through float16, which holds them all.
@ascend_kernel
def masked_select_kernel(x, mask, y, sums, total, tile):
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    per_core = tl.cdiv(total, cores)
    start = pid * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=x.dtype)
    y_ub = tl.alloc_ub(tile, dtype=x.dtype)
    mask_ub = tl.alloc_ub(tile, dtype=tl.bool)
    wide_ub = tl.alloc_ub(tile, dtype=tl.float16)
    kept_ub = tl.alloc_ub(tile, dtype=tl.float16)
    count_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(8 * cores, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(sum_ub, 0.0)
        tl.duplicate(part_ub, 0.0)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(mask + at, mask_ub, count=n)
        with tl.compute():
            tl.cast(count_ub, mask_ub, count=n)
            tl.vadd(sum_ub, sum_ub, count_ub, count=n)
    with tl.compute():
        tl.reduce_sum(part_ub, sum_ub, count_ub)
    with tl.copyout():
        tl.store(sums + 8 * pid, part_ub)
    tl.sync_all()
    with tl.copyin():
        tl.load(sums, sums_ub)
    place = 0
    for core in range(pid):
        place += int(tl.extract_scalar(sums_ub, 8 * core))
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
            tl.load(mask + at, mask_ub, count=n)
        with tl.compute():
            if x.dtype == tl.bool or x.dtype == tl.int8 or x.dtype == tl.uint8:
                tl.cast(wide_ub, x_ub, count=n)
                kept = tl.compress(kept_ub, wide_ub, mask_ub, count=n)
                tl.cast(y_ub, kept_ub, count=kept)
            else:
                kept = tl.compress(y_ub, x_ub, mask_ub, count=n)
        with tl.copyout():
            tl.store(y + place, y_ub, count=kept)
        place += kept


def masked_select_host(x, mask, y, tile: tl.constexpr = 3072):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    sums = torch.empty(8 * cores, dtype=tl.float32)
    masked_select_kernel[cores](x, mask, y, sums, total, tile)
