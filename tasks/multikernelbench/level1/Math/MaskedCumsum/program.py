import tile.language as tl


# y = the running sums of x * mask over the rows of a matrix. Rows are cut into segments of `side`
# elements; transposed, a segment is a column, and log2(side) steps give all its sums. What the
# segments before add is found the same way of their totals. Short rows come many at once, each a
# segment.
@ascend_kernel
def masked_cumsum_kernel(x, mask, y, rows, cols, side):
    first = tl.program_id(0) * rows // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * rows // tl.num_programs(0)
    tile = side * side
    length = min(cols, side)
    pitch = tl.cdiv(length, 32) * 32
    step = side if cols <= side else 1
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub((side + 1) * 16, dtype=tl.float32)
    d_ub = tl.alloc_ub((side + 1) * 16, dtype=tl.float32)
    before_ub = tl.alloc_ub(side + 16, dtype=tl.float32)
    mask_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.compute():
            tl.duplicate(c_ub, 0.0)
        for at in range(0, cols, tile):
            m = min(tile, cols - at)
            segments = n if cols <= side else tl.cdiv(m, side)
            with tl.copyin():
                if cols <= side:
                    tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
                    tl.load_rows(mask + row * cols, mask_ub, n, cols, cols, pitch)
                else:
                    tl.load(x + row * cols + at, x_ub, count=m)
                    tl.load(mask + row * cols + at, mask_ub, count=m)
            with tl.compute():
                tl.cast(a_ub, mask_ub)
                tl.vmul(x_ub, x_ub, a_ub)
                tl.transpose(a_ub, x_ub, segments, length, pitch, side)
                d = 1
                while d < length:
                    tl.vadd_scalar(b_ub, a_ub, 0.0, count=d * side)
                    tl.vadd(b_ub + d * side, a_ub + d * side, a_ub, count=(length - d) * side)
                    e = min(2 * d, length)
                    tl.vadd_scalar(a_ub, b_ub, 0.0, count=e * side)
                    tl.vadd(a_ub + e * side, b_ub + e * side, b_ub, count=(length - e) * side)
                    d *= 4
                if cols > side:
                    tl.transpose(c_ub + 16, a_ub + (side - 1) * side, 1, segments, side, 16)
                    d = 1
                    while d < segments + 1:
                        tl.vadd_scalar(d_ub, c_ub, 0.0, count=d * 16)
                        tl.vadd(d_ub + d * 16, c_ub + d * 16, c_ub, count=(segments + 1 - d) * 16)
                        e = min(2 * d, segments + 1)
                        tl.vadd_scalar(c_ub, d_ub, 0.0, count=e * 16)
                        tl.vadd(c_ub + e * 16, d_ub + e * 16, d_ub, count=(segments + 1 - e) * 16)
                        d *= 4
                    tl.transpose(before_ub, c_ub, segments + 1, 1, 16, side + 16)
                    tl.vadd_row(a_ub, a_ub, before_ub, side, segments, side)
                    tl.vadd_scalar(c_ub, c_ub + segments * 16, 0.0, count=1)
                tl.transpose(y_ub, a_ub, length, segments, side, pitch)
            with tl.copyout():
                if cols <= side:
                    tl.store_rows(y + row * cols, y_ub, n, cols, cols, pitch)
                else:
                    tl.store(y + row * cols + at, y_ub, count=m)


def masked_cumsum_host(x, mask, y, dim: int = 1, side: tl.constexpr = 64):
    rows, cols = x.shape
    if rows * cols == 0:
        return
    cores = min(tl.num_vec_cores(), rows)
    masked_cumsum_kernel[cores](x, mask, y, rows, cols, side)
