import tile.language as tl


# output = input, negated in the second half of the last dimension. The tensor is rows of `width`; a block of rows and columns
# is multiplied by a row of signs.
@ascend_kernel
def strideslice_neg_concat_kernel(input, output, rows, width, block_rows, block_cols, pitch):
    blocks_across = tl.cdiv(width, block_cols)
    x_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    y_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    sign_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    second_ub = tl.alloc_ub(pitch, dtype=tl.bool)
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
            tl.load_rows(input + row * width + col, x_ub, height, cols, width, pitch)
        with tl.compute():
            tl.iota(sign_ub, col)
            tl.vge(second_ub, sign_ub, width // 2)
            tl.vselect(sign_ub, second_ub, -1.0, 1.0)
            tl.vmul_row(y_ub, x_ub, sign_ub, height, cols, pitch)
        with tl.copyout():
            tl.store_rows(output + row * width + col, y_ub, height, cols, width, pitch)


def strideslice_neg_concat_host(
    input: torch.Tensor,
    output: torch.Tensor,
    tile: tl.constexpr = 8192,
):
    if input.numel() == 0:
        return
    width = input.shape[-1]
    rows = input.numel() // width
    block_cols = min(width, tile)
    pitch = tl.pitch(block_cols)
    # So many rows that the cores have a block each, where there are enough.
    blocks = rows * tl.cdiv(width, block_cols)
    block_rows = max(1, min(tile // pitch, tl.cdiv(blocks, tl.num_vec_cores())))
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, block_rows) * tl.cdiv(width, block_cols))
    strideslice_neg_concat_kernel[cores](
        input,
        output,
        rows,
        width,
        block_rows,
        block_cols,
        pitch,
    )
