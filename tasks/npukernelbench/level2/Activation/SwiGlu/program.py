import tile.language as tl


# y = a * sigmoid(a) * b = a * b / (1 + exp(-a)), where a and b are the halves of x along a dimension.
# x is rows of two halves, a and b, each `half` elements; a block is some rows and columns of a half.
@ascend_kernel
def swi_glu_kernel(x, y, rows, half, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(half, block_cols)
    a_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    b_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    y_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    for block in range(
        tl.program_id(0),
        tl.cdiv(rows, block_rows) * blocks_across,
        tl.num_programs(0),
    ):
        row = block // blocks_across * block_rows
        col = block % blocks_across * block_cols
        height = min(block_rows, rows - row)
        cols = min(block_cols, half - col)
        place = row * half + col
        place_of_x = 2 * row * half + col
        with tl.copyin():
            tl.load_rows(x + place_of_x, a_ub, height, cols, 2 * half, pitch)
            tl.load_rows(x + (place_of_x + half), b_ub, height, cols, 2 * half, pitch)
        with tl.compute():
            tl.vneg(y_ub, a_ub)
            tl.vexp(y_ub, y_ub)
            tl.vadd(y_ub, y_ub, 1.0)
            tl.vdiv(y_ub, a_ub, y_ub)
            tl.vmul(y_ub, y_ub, b_ub)
        with tl.copyout():
            tl.store_rows(y + place, y_ub, height, cols, half, pitch)


def swi_glu_host(x: torch.Tensor, y: torch.Tensor, dim=-1, tile: tl.constexpr = 4096):
    if x.numel() == 0:
        return
    rows = 1
    for axis in range(dim if dim >= 0 else dim + x.ndim):
        rows *= x.shape[axis]
    half = x.numel() // rows // 2
    block_cols = min(half, tile)
    pitch = tl.pitch(block_cols)
    # So many rows that the cores have a block each, where there are enough.
    blocks_across = tl.cdiv(half, block_cols)
    block_rows = max(1, min(tile // pitch, tl.cdiv(rows * blocks_across, tl.num_vec_cores())))
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, block_rows) * blocks_across)
    swi_glu_kernel[cores](x, y, rows, half, block_rows, block_cols, pitch)
