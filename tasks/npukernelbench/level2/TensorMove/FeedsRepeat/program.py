import tile.language as tl


# Row i of feeds stands times[i] times in y, the copies one behind the other; the rows behind the last copy are 0. Each core has a
# part of the rows of y, and loads the rows of feeds that come into it.
@ascend_kernel
def repeat_kernel(feeds, times, y, feeds_rows, rows, inner, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, rows)
    row_ub = tl.alloc_ub(tile, dtype=feeds.dtype)
    zero_ub = tl.alloc_ub(tile, dtype=feeds.dtype)
    with tl.compute():
        tl.duplicate(zero_ub, 0)
    filled = 0
    for i in range(feeds_rows):
        copies = int(tl.extract_scalar(times, i))
        first = max(filled, start)
        last = min(filled + copies, end)
        filled += copies
        if first < last:
            for at in range(0, inner, tile):
                count = min(tile, inner - at)
                with tl.copyin():
                    tl.load(feeds + i * inner + at, row_ub, count=count)
                with tl.copyout():
                    for row in range(first, last):
                        tl.store(y + row * inner + at, row_ub, count=count)
    for row in range(max(filled, start), end):
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
    inner = y.numel() // rows
    feeds_rows = feeds_repeat_times.numel()
    cores = min(tl.num_vec_cores(), rows)
    per_core = tl.cdiv(rows, cores)
    repeat_kernel[cores](feeds, feeds_repeat_times, y, feeds_rows, rows, inner, per_core, tile)
