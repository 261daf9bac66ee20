import tile.language as tl


# y[ids[i]] += x[i] for each row i of x. The cores store zeros and wait for each other; then each takes pieces of rows, which it adds
# to global memory.
@ascend_kernel
def segment_sum_kernel(x, ids, y, pieces, piece, size, elements, share, per_core, tile):
    core = tl.program_id(0)
    zero_ub = tl.alloc_ub(tile, dtype=x.dtype)
    x_ub = tl.alloc_ub(tile, dtype=x.dtype)
    with tl.compute():
        tl.duplicate(zero_ub, 0)
    for at in range(core * share, min((core + 1) * share, elements), tile):
        n = min(tile, min((core + 1) * share, elements) - at)
        with tl.copyout():
            tl.store(y + at, zero_ub, count=n)
    tl.sync_all()
    across = tl.cdiv(size, piece)
    for unit in range(core * per_core, min((core + 1) * per_core, pieces)):
        row = unit // across
        begin = unit % across * piece
        n = min(piece, size - begin)
        segment = int(tl.extract_scalar(ids, row))
        with tl.copyin():
            tl.load(x + row * size + begin, x_ub, count=n)
        with tl.copyout():
            tl.store_add(y + segment * size + begin, x_ub, count=n)


def segment_sum_host(x: torch.Tensor, ids: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 8192):
    if y.numel() == 0:
        return
    entries, size = x.shape
    cores = tl.num_vec_cores()
    piece = min(size, tile)
    pieces = entries * tl.cdiv(size, piece)
    share = tl.cdiv(tl.cdiv(y.numel(), cores), 64) * 64
    segment_sum_kernel[cores](x, ids, y, pieces, piece, size, y.numel(), share, tl.cdiv(pieces, cores), tile)
