import tile.language as tl


# y = gelu * b, where a and b are the halves of x along a dimension: b the first one where activate_left is false.
# gelu = a * (1 + erf(a / sqrt(2))) / 2, as a * erfc(-a / sqrt(2)) / 2; approximated by tanh, with
# p = 2 sqrt(2 / pi) (a + 0.044715 a^3), gelu = a / (1 + exp(-p)).
# x is rows of two halves, each `half` elements, a from `left` on; a block is some rows and columns of a half.
@ascend_kernel
def ge_glu_v2_kernel(x, y, gelu, approximate, left, rows, half, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(half, block_cols)
    a_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    b_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    y_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    gelu_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
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
            tl.load_rows(x + (place_of_x + left), a_ub, height, cols, 2 * half, pitch)
            tl.load_rows(x + (place_of_x + half - left), b_ub, height, cols, 2 * half, pitch)
        with tl.compute():
            if approximate == 0:
                tl.vmul(gelu_ub, a_ub, -math.sqrt(0.5))
                tl.verfc(gelu_ub, gelu_ub)
                tl.vmul(gelu_ub, gelu_ub, a_ub)
                tl.vmul(gelu_ub, gelu_ub, 0.5)
            else:
                tl.vmul(gelu_ub, a_ub, a_ub)
                tl.vmul(gelu_ub, gelu_ub, 0.044715)
                tl.vadd(gelu_ub, gelu_ub, 1.0)
                tl.vmul(gelu_ub, gelu_ub, a_ub)
                tl.vmul(gelu_ub, gelu_ub, -2.0 * math.sqrt(2.0 / math.pi))
                tl.vexp(gelu_ub, gelu_ub)
                tl.vadd(gelu_ub, gelu_ub, 1.0)
                tl.vdiv(gelu_ub, a_ub, gelu_ub)
            tl.vmul(y_ub, gelu_ub, b_ub)
        with tl.copyout():
            tl.store_rows(y + place, y_ub, height, cols, half, pitch)
            tl.store_rows(gelu + place, gelu_ub, height, cols, half, pitch)


def ge_glu_v2_host(
    x: torch.Tensor,
    y: torch.Tensor,
    gelu: torch.Tensor,
    dim=-1,
    approximate=0,
    activate_left=True,
    tile: tl.constexpr = 1536,
):
    if x.numel() == 0:
        return
    rows = 1
    for axis in range(dim if dim >= 0 else dim + x.ndim):
        rows *= x.shape[axis]
    half = x.numel() // rows // 2
    left = 0 if activate_left else half
    block_cols = min(half, tile)
    pitch = tl.pitch(block_cols)
    # So many rows that the cores have a block each, where there are enough.
    blocks_across = tl.cdiv(half, block_cols)
    block_rows = max(1, min(tile // pitch, tl.cdiv(rows * blocks_across, tl.num_vec_cores())))
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, block_rows) * blocks_across)
    ge_glu_v2_kernel[cores](
        x,
        y,
        gelu,
        approximate,
        left,
        rows,
        half,
        block_rows,
        block_cols,
        pitch,
    )
