import tile.language as tl


# y = the product of x (B, D1, D2) over D1. A core's share are strips of columns of the matrices;
# rows of a strip come many at once, and the rows are multiplied half by half.
@ascend_kernel
def product_reduction_kernel(x, y, depth, cols, piece, units, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, units)
    pitch = tl.pitch(piece)
    step = tile // pitch
    strips = tl.cdiv(cols, piece)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for unit in range(first, last):
        col = unit % strips * piece
        m = min(piece, cols - col)
        start = unit // strips * depth
        with tl.compute():
            tl.duplicate(y_ub, 1.0, count=m)
        for row in range(0, depth, step):
            n = min(step, depth - row)
            with tl.copyin():
                tl.load_rows(x + (start + row) * cols + col, x_ub, n, m, cols, pitch)
            with tl.compute():
                while n > 1:
                    half = n // 2
                    tl.vmul(x_ub, x_ub, x_ub + (n - half) * pitch, count=half * pitch)
                    n = n - half
                tl.vmul(y_ub, y_ub, x_ub, count=m)
        with tl.copyout():
            tl.store(y + unit // strips * cols + col, y_ub, count=m)


def product_reduction_host(x, y, dim: int = 1, tile: tl.constexpr = 3072):
    batch, depth, cols = x.shape
    if batch * cols == 0:
        return
    wide = tl.cdiv(cols, max(1, tl.num_vec_cores() // batch))
    piece = min(cols, max(64, tl.pitch(wide)), tile // 16)
    units = batch * tl.cdiv(cols, piece)
    cores = min(tl.num_vec_cores(), units)
    product_reduction_kernel[cores](x, y, depth, cols, piece, units, tl.cdiv(units, cores), tile)
