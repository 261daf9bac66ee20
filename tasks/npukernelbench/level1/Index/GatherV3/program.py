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
    # Where rows are few, each is cut into parts.
    parts = max(1, min(tl.cdiv(4 * tl.num_programs(0), rows), inner // 256))
    units = rows * parts
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    for unit in range(tl.program_id(0) * units // tl.num_programs(0), last):
        row = unit // parts
        index = int(tl.extract_scalar(indices, row % wanted))
        base = (row // wanted * size + index) * inner
        end = inner * (unit % parts + 1) // parts
        for at in range(inner * (unit % parts) // parts, end, tile):
            count = min(tile, end - at)
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
