import tile.language as tl


# y = x turned. Cores take blocks in turn; blocks of one column of blocks lie behind each other in y.
@ascend_kernel
def transpose_kernel(x, y, rows, cols, high, wide):
    down = tl.cdiv(rows, high)
    x_ub = tl.alloc_ub(high * wide, dtype=x.dtype)
    y_ub = tl.alloc_ub(high * wide, dtype=x.dtype)
    for block in range(tl.program_id(0), down * tl.cdiv(cols, wide), tl.num_programs(0)):
        row = block % down * high
        col = block // down * wide
        height = min(high, rows - row)
        width = min(wide, cols - col)
        with tl.copyin():
            tl.load_rows(x + row * cols + col, x_ub, height, width, cols, wide)
        with tl.compute():
            tl.transpose(y_ub, x_ub, height, width, wide, high)
        with tl.copyout():
            tl.store_rows(y + col * rows + row, y_ub, width, height, rows, high)


def transpose_host(x: torch.Tensor, y: torch.Tensor, high: tl.constexpr = 64, wide: tl.constexpr = 64):
    rows, cols = x.shape
    if rows * cols == 0:
        return
    blocks = tl.cdiv(rows, high) * tl.cdiv(cols, wide)
    transpose_kernel[min(tl.num_vec_cores(), blocks)](x, y, rows, cols, high, wide)
