import tile.language as tl


# out = the sum over dimension 1 of sigmoid((a + b) * f) * p * q with a and q of shape (n0, n1,
# n2), b (1, 1, n2), p (n0, n1, 1) and f one element. A core's share are strips of columns of the
# matrices; rows of a strip come many at once, and their sums add up.
@ascend_kernel
def reduce_kernel(a, b, f, p, q, out, piece, units, tile):
    depth, cols = a.shape[1], a.shape[2]
    first = tl.program_id(0) * units // tl.num_programs(0)
    last = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    factor = tl.extract_scalar(f, 0)
    pitch = tl.pitch(piece)
    step = tile // pitch
    strips = tl.cdiv(cols, piece)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    q_ub = tl.alloc_ub(tile, dtype=tl.float32)
    p_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    out_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for unit in range(first, last):
        col = unit % strips * piece
        m = min(piece, cols - col)
        start = unit // strips * depth
        with tl.copyin():
            tl.load(b + col, b_ub, count=m)
        with tl.compute():
            tl.duplicate(out_ub, 0.0, count=m)
        for row in range(0, depth, step):
            n = min(step, depth - row)
            with tl.copyin():
                tl.load_rows(a + (start + row) * cols + col, a_ub, n, m, cols, pitch)
                tl.load_rows(q + (start + row) * cols + col, q_ub, n, m, cols, pitch)
                tl.load(p + start + row, p_ub, count=n)
            with tl.compute():
                tl.vadd_row(a_ub, a_ub, b_ub, n, m, pitch)
                tl.vmul_scalar(a_ub, a_ub, -factor, count=n * pitch)
                tl.vexp(a_ub, a_ub, count=n * pitch)
                tl.vadd_scalar(a_ub, a_ub, 1.0, count=n * pitch)
                tl.vdiv(q_ub, q_ub, a_ub, count=n * pitch)
                tl.vmul_col(q_ub, q_ub, p_ub, n, m, pitch)
                tl.col_sum(part_ub, q_ub, n, m, pitch)
                tl.vadd(out_ub, out_ub, part_ub, count=m)
        with tl.copyout():
            tl.store(out + unit // strips * cols + col, out_ub, count=m)


def reduce_host(a, b, f, p, q, out, tile: tl.constexpr = 4096):
    batch, cols = a.shape[0], a.shape[2]
    if out.numel() == 0:
        return
    wide = tl.cdiv(cols, tl.cdiv(tl.num_vec_cores(), batch))
    piece = min(cols, max(64, tl.pitch(wide)), tile // 16)
    units = batch * tl.cdiv(cols, piece)
    reduce_kernel[min(tl.num_vec_cores(), units)](a, b, f, p, q, out, piece, units, tile)
