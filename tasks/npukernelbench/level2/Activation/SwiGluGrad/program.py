import tile.language as tl


# The gradient of silu(a) * b, where a and b are the halves of x along a dimension: with s = sigmoid(a),
# da = y_grad * b * s * (1 + a * (1 - s)) and db = y_grad * a * s; 1 - s is sigmoid(-a).
# x is rows of two halves, a and b, each `half` elements; a block is some rows and columns of a half.
@ascend_kernel
def swi_glu_grad_kernel(y_grad, x, x_grad, rows, half, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(half, block_cols)
    y_grad_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    a_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    b_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    da_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    db_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    s_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
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
            tl.load_rows(y_grad + place, y_grad_ub, height, cols, half, pitch)
            tl.load_rows(x + place_of_x, a_ub, height, cols, 2 * half, pitch)
            tl.load_rows(x + (place_of_x + half), b_ub, height, cols, 2 * half, pitch)
        with tl.compute():
            tl.vneg(s_ub, a_ub)
            tl.vexp(s_ub, s_ub)
            tl.vadd(s_ub, s_ub, 1.0)
            tl.vreciprocal(s_ub, s_ub)
            tl.vmul(s_ub, s_ub, y_grad_ub)
            tl.vmul(db_ub, s_ub, a_ub)
            tl.vexp(da_ub, a_ub)
            tl.vadd(da_ub, da_ub, 1.0)
            tl.vdiv(da_ub, a_ub, da_ub)
            tl.vadd(da_ub, da_ub, 1.0)
            tl.vmul(da_ub, da_ub, s_ub)
            tl.vmul(da_ub, da_ub, b_ub)
        with tl.copyout():
            tl.store_rows(x_grad + place_of_x, da_ub, height, cols, 2 * half, pitch)
            tl.store_rows(x_grad + (place_of_x + half), db_ub, height, cols, 2 * half, pitch)


def swi_glu_grad_host(
    y_grad: torch.Tensor,
    x: torch.Tensor,
    x_grad: torch.Tensor,
    dim=-1,
    tile: tl.constexpr = 4096,
):
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
    swi_glu_grad_kernel[cores](y_grad, x, x_grad, rows, half, block_rows, block_cols, pitch)
