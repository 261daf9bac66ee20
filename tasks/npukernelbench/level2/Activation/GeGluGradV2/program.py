import tile.language as tl


# The gradient of gelu(a) * b, where a and b are the halves of x along a dimension: da = dy * b * gelu'(a), db = dy * gelu.
# With F = erfc(-a / sqrt(2)) / 2, gelu'(a) = F + a * exp(-a^2 / 2) / sqrt(2 pi). Approximated by tanh, with
# p = 2 sqrt(2 / pi) (a + 0.044715 a^3) and s = sigmoid(p), gelu'(a) = s * (1 + a * (1 - s) * p'); 1 - s is sigmoid(-p).
# x is rows of two halves, a and b, each `half` elements; a block is some rows and columns of a half.
@ascend_kernel
def ge_glu_grad_v2_kernel(dy, x, gelu, dx, approximate, rows, half, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(half, block_cols)
    dy_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    gelu_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    a_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    b_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    da_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    db_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    square_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    t_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
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
            tl.load_rows(dy + place, dy_ub, height, cols, half, pitch)
            tl.load_rows(gelu + place, gelu_ub, height, cols, half, pitch)
            tl.load_rows(x + place_of_x, a_ub, height, cols, 2 * half, pitch)
            tl.load_rows(x + (place_of_x + half), b_ub, height, cols, 2 * half, pitch)
        with tl.compute():
            tl.vmul(db_ub, dy_ub, gelu_ub)
            tl.vmul(square_ub, a_ub, a_ub)
            if approximate == 0:
                tl.vmul(t_ub, square_ub, -0.5)
                tl.vexp(t_ub, t_ub)
                tl.vmul(t_ub, t_ub, a_ub)
                tl.vmul(t_ub, t_ub, 1.0 / math.sqrt(2.0 * math.pi))
                tl.vmul(da_ub, a_ub, -math.sqrt(0.5))
                tl.verfc(da_ub, da_ub)
                tl.vmul(da_ub, da_ub, 0.5)
                tl.vadd(da_ub, da_ub, t_ub)
            else:
                tl.vmul(t_ub, square_ub, 0.044715)
                tl.vadd(t_ub, t_ub, 1.0)
                tl.vmul(t_ub, t_ub, a_ub)
                tl.vmul(t_ub, t_ub, 2.0 * math.sqrt(2.0 / math.pi))
                tl.vmul(square_ub, square_ub, 3.0 * 0.044715)
                tl.vadd(square_ub, square_ub, 1.0)
                tl.vmul(square_ub, square_ub, a_ub)
                tl.vmul(square_ub, square_ub, 2.0 * math.sqrt(2.0 / math.pi))
                tl.vexp(da_ub, t_ub)
                tl.vadd(da_ub, da_ub, 1.0)
                tl.vdiv(square_ub, square_ub, da_ub)
                tl.vadd(square_ub, square_ub, 1.0)
                tl.vneg(t_ub, t_ub)
                tl.vexp(t_ub, t_ub)
                tl.vadd(t_ub, t_ub, 1.0)
                tl.vdiv(da_ub, square_ub, t_ub)
            tl.vmul(da_ub, da_ub, dy_ub)
            tl.vmul(da_ub, da_ub, b_ub)
        with tl.copyout():
            tl.store_rows(dx + place_of_x, da_ub, height, cols, 2 * half, pitch)
            tl.store_rows(dx + (place_of_x + half), db_ub, height, cols, 2 * half, pitch)


def ge_glu_grad_v2_host(
    dy: torch.Tensor,
    x: torch.Tensor,
    gelu: torch.Tensor,
    dx: torch.Tensor,
    dim=-1,
    approximate=1,
    activate_left=False,
    tile: tl.constexpr = 2048,
):
    if x.numel() == 0:
        return
    assert activate_left, "the gelu of the second half"
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
    ge_glu_grad_v2_kernel[cores](
        dy,
        x,
        gelu,
        dx,
        approximate,
        rows,
        half,
        block_rows,
        block_cols,
        pitch,
    )
