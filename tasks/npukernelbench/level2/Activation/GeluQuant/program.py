import tile.language as tl


# g = an approximation of gelu(x): x / (1 + exp(p)) with p = -1.5957691 * (x + 0.044715 * x^3), or a polynomial of x clamped to
# [-13.25, 5.75]. static: y = g * scale + offset; dynamic: per row of the last dimension m = g * scale, t = 127 / (max|m| + 1e-6),
# y = m * t and out_scale = 1 / t. y is rounded to even and clamped to int8.
# A block of rows is gone through twice, some columns at a time: for the largest (dynamic alone), then for y.
@ascend_kernel
def gelu_quant_kernel(
    x,
    input_scale,
    input_offset,
    y,
    out_scale,
    by_tanh,
    dynamic,
    has_scale,
    has_offset,
    rows,
    width,
    block_rows,
    block_cols,
    pitch,
):
    x_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    c_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    square_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    p_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    y_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.int8)
    most_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    part_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    scale_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    scale = 1.0
    offset = 0.0
    if has_scale:
        scale = tl.extract_scalar(input_scale, 0)
    if has_offset:
        offset = tl.extract_scalar(input_offset, 0)
    for block in range(tl.program_id(0), tl.cdiv(rows, block_rows), tl.num_programs(0)):
        row = block * block_rows
        height = min(block_rows, rows - row)
        with tl.compute():
            tl.duplicate(most_ub, 0.0)
        for turn in range(0 if dynamic else 1, 2):
            for part in range(tl.cdiv(width, block_cols)):
                col = part * block_cols
                cols = min(block_cols, width - col)
                with tl.copyin():
                    tl.load_rows(x + (row * width + col), x_ub, height, cols, width, pitch)
                with tl.compute():
                    if by_tanh:
                        tl.vmul(square_ub, x_ub, x_ub)
                        tl.vmul(p_ub, square_ub, 0.044715)
                        tl.vadd(p_ub, p_ub, 1.0)
                        tl.vmul(p_ub, p_ub, x_ub)
                        tl.vmul(p_ub, p_ub, -1.5957691)
                    else:
                        tl.vmax(c_ub, x_ub, -13.25)
                        tl.vmin(c_ub, c_ub, 5.75)
                        tl.vmul(square_ub, c_ub, c_ub)
                        tl.vmul(p_ub, square_ub, -3.512339572e-9)
                        tl.vadd(p_ub, p_ub, 2.64526617e-7)
                        tl.vmul(p_ub, p_ub, square_ub)
                        tl.vadd(p_ub, p_ub, -7.929488134e-6)
                        tl.vmul(p_ub, p_ub, square_ub)
                        tl.vadd(p_ub, p_ub, 1.10612384e-4)
                        tl.vmul(p_ub, p_ub, square_ub)
                        tl.vadd(p_ub, p_ub, 6.518995814e-5)
                        tl.vmul(p_ub, p_ub, square_ub)
                        tl.vadd(p_ub, p_ub, -7.266616915e-2)
                        tl.vmul(p_ub, p_ub, square_ub)
                        tl.vadd(p_ub, p_ub, -1.595769883)
                        tl.vmul(p_ub, p_ub, c_ub)
                    tl.vexp(p_ub, p_ub)
                    tl.vadd(p_ub, p_ub, 1.0)
                    tl.vdiv(p_ub, x_ub, p_ub)
                    tl.vmul(p_ub, p_ub, scale)
                if turn == 0:
                    with tl.compute():
                        tl.vabs(c_ub, p_ub)
                        tl.row_max(part_ub, c_ub, height, cols, pitch)
                        tl.vmax(most_ub, most_ub, part_ub, count=height)
                else:
                    with tl.compute():
                        if dynamic:
                            tl.vadd(scale_ub, most_ub, 1e-6)
                            tl.duplicate(part_ub, 127.0)
                            tl.vdiv(part_ub, part_ub, scale_ub)
                            tl.vmul_col(p_ub, p_ub, part_ub, height, cols, pitch)
                        else:
                            tl.vadd(p_ub, p_ub, offset)
                        tl.cast(y_ub, p_ub)
                    with tl.copyout():
                        tl.store_rows(y + (row * width + col), y_ub, height, cols, width, pitch)
        if dynamic:
            with tl.compute():
                # 1 / t
                tl.vadd(scale_ub, most_ub, 1e-6)
                tl.vdiv(scale_ub, scale_ub, 127.0)
            with tl.copyout():
                tl.store(out_scale + row, scale_ub, count=height)


def gelu_quant_host(
    x: torch.Tensor,
    input_scale: torch.Tensor = None,
    input_offset: torch.Tensor = None,
    y: torch.Tensor = None,
    out_scale: torch.Tensor = None,
    approximate="none",
    quant_mode="dynamic",
    tile: tl.constexpr = 6144,
):
    if x.numel() == 0:
        return
    width = x.shape[-1]
    rows = x.numel() // width
    block_cols = min(width, tile)
    pitch = tl.cdiv(block_cols, 32) * 32
    block_rows = max(1, min(tile // pitch, tl.cdiv(rows, tl.num_vec_cores())))
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, block_rows))
    gelu_quant_kernel[cores](
        x,
        input_scale,
        input_offset,
        y,
        out_scale,
        approximate == "tanh",
        quant_mode == "dynamic",
        input_scale is not None,
        input_offset is not None,
        rows,
        width,
        block_rows,
        block_cols,
        pitch,
    )
