import tile.language as tl


# Row i of feeds stands times[i] times in y, the copies one behind the other; the rows behind the last copy are 0. A core's share are
# rows of feeds, whose copies begin behind those of all rows before, and some of the rows of zeros.
@ascend_kernel
def repeat_kernel(feeds, times, y, feeds_rows, rows, inner, tile):
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    start = pid * feeds_rows // cores
    end = (pid + 1) * feeds_rows // cores
    row_ub = tl.alloc_ub(tile, dtype=feeds.dtype)
    zero_ub = tl.alloc_ub(tile, dtype=feeds.dtype)
    times_ub = tl.alloc_ub(tile, dtype=times.dtype)
    count_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(zero_ub, 0)
    filled = 0
    total = 0
    for at in range(0, feeds_rows, tile):
        n = min(tile, feeds_rows - at)
        with tl.copyin():
            tl.load(times + at, times_ub, count=n)
        with tl.compute():
            tl.cast(count_ub, times_ub, count=n)
            if at < start:
                tl.reduce_sum(sum_ub, count_ub, work_ub, count=min(n, start - at))
                filled += int(tl.extract_scalar(sum_ub, 0) + 0.5)
            tl.reduce_sum(sum_ub, count_ub, work_ub, count=n)
            total += int(tl.extract_scalar(sum_ub, 0) + 0.5)
    for i in range(start, end):
        last = min(filled + int(tl.extract_scalar(times, i)), rows)
        if filled < last:
            for at in range(0, inner, tile):
                count = min(tile, inner - at)
                with tl.copyin():
                    tl.load(feeds + i * inner + at, row_ub, count=count)
                with tl.copyout():
                    for row in range(filled, last):
                        tl.store(y + row * inner + at, row_ub, count=count)
        filled = max(filled, last)
    left = max(rows - total, 0)
    for row in range(rows - left + pid * left // cores, rows - left + (pid + 1) * left // cores):
        for at in range(0, inner, tile):
            with tl.copyout():
                tl.store(y + row * inner + at, zero_ub, count=min(tile, inner - at))


def repeat_host(
    feeds: torch.Tensor,
    feeds_repeat_times: torch.Tensor,
    y: torch.Tensor,
    tile: tl.constexpr = 4096,
):
    if y.numel() == 0:
        return
    rows = y.shape[0]
    assert rows < 1 << 24, "more rows than float32 counts"
    inner = y.numel() // rows
    feeds_rows = feeds_repeat_times.numel()
    repeat_kernel[tl.num_vec_cores()](feeds, feeds_repeat_times, y, feeds_rows, rows, inner, tile)
