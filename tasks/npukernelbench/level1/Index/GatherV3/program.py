import tile.language as tl


# y = x with the axis taken by the indices: rows of `inner` elements are moved, row (o, i) of y from row (o, indices[i]) of x.
@ascend_kernel
def gather_kernel(x, indices, axis, y, shape, total, wanted, tile):
    row_ub = tl.alloc_ub(tile, dtype=x.dtype)
    place = int(tl.extract_scalar(axis, 0))
    if place < 0:
        place += len(shape)
    inner = 1
    for i in range(place + 1, len(shape)):
        inner *= shape[i]
    size = shape[place]
    rows = total // inner
    per_core = tl.cdiv(rows, tl.num_programs(0))
    start = tl.program_id(0) * per_core
    for row in range(start, min(start + per_core, rows)):
        index = int(tl.extract_scalar(indices, row % wanted))
        base = (row // wanted * size + index) * inner
        for at in range(0, inner, tile):
            count = min(tile, inner - at)
            with tl.copyin():
                tl.load(x + base + at, row_ub, count=count)
            with tl.copyout():
                tl.store(y + row * inner + at, row_ub, count=count)


def gather_host(
    x: torch.Tensor,
    indices: torch.Tensor,
    axis: torch.Tensor,
    y: torch.Tensor,
    tile: tl.constexpr = 8192,
):
    total = y.numel()
    if total == 0:
        return
    wanted = indices.numel()
    cores = tl.num_vec_cores()
    gather_kernel[cores](x, indices, axis, y, x.shape, total, wanted, tile)
