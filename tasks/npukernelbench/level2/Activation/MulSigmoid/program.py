import tile.language as tl


# t = sigmoid(x1 * t1), s = t where t < t2, else 2 * t; out = s * x2 * t3. x1 is (rows, width), x2 has `width` elements for every row;
# a block is some rows and columns.
@ascend_kernel
def mul_sigmoid_kernel(x1, x2, out, t1, t2, t3, rows, width, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(width, block_cols)
    x1_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    x2_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    t_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    twice_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    is_low_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.bool)
    out_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    for block in range(
        tl.program_id(0),
        tl.cdiv(rows, block_rows) * blocks_across,
        tl.num_programs(0),
    ):
        row = block // blocks_across * block_rows
        col = block % blocks_across * block_cols
        height = min(block_rows, rows - row)
        cols = min(block_cols, width - col)
        with tl.copyin():
            tl.load_rows(x1 + (row * width + col), x1_ub, height, cols, width, pitch)
            tl.load(x2 + col, x2_ub, count=cols)
        with tl.compute():
            tl.vmul(t_ub, x1_ub, -t1)
            tl.vexp(t_ub, t_ub)
            tl.vadd(t_ub, t_ub, 1.0)
            tl.vreciprocal(t_ub, t_ub)
            tl.vlt(is_low_ub, t_ub, t2)
            tl.vadd(twice_ub, t_ub, t_ub)
            tl.vselect(t_ub, is_low_ub, t_ub, twice_ub)
            tl.vmul(t_ub, t_ub, t3)
            tl.vmul_row(out_ub, t_ub, x2_ub, height, cols, pitch)
        with tl.copyout():
            tl.store_rows(out + (row * width + col), out_ub, height, cols, width, pitch)


def mul_sigmoid_host(
    x1: torch.Tensor,
    x2: torch.Tensor,
    out: torch.Tensor,
    t1: float,
    t2: float,
    t3: float,
    tile: tl.constexpr = 4096,
):
    if x1.numel() == 0:
        return
    width = x2.numel()
    rows = x1.numel() // width
    block_cols = min(width, tile)
    pitch = tl.pitch(block_cols)
    # So many rows that the cores have a block each, where there are enough.
    blocks_across = tl.cdiv(width, block_cols)
    block_rows = max(1, min(tile // pitch, tl.cdiv(rows * blocks_across, tl.num_vec_cores())))
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, block_rows) * blocks_across)
    mul_sigmoid_kernel[cores](x1, x2, out, t1, t2, t3, rows, width, block_rows, block_cols, pitch)
