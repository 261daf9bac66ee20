import tile.language as tl


# Rows of x in groups (all are one group without group_index), a and b their halves. int32 is x = (x + bias) * weight_scale[group] *
# activation_scale[row] first. o = silu(gate) * rest, where the gate is a if activate_left is true, else b.
# static: y = o / quant_scale[group] + quant_offset[group]; dynamic: o = o * quant_scale[group], scale = max|o| / 127,
# y = o * (127 / max|o|).
# A block of rows of a group is gone through twice, some columns at a time: for the largest (dynamic alone), then for y.
@ascend_kernel
def dequant_swiglu_quant_kernel(
    x,
    weight_scale,
    activation_scale,
    bias,
    quant_scale,
    quant_offset,
    group_index,
    y,
    scale,
    dynamic,
    has_bias,
    has_activation_scale,
    groups,
    grouped,
    gate,
    rows,
    half,
    block_rows,
    block_cols,
    pitch,
):
    of_bias = tl.int32 if bias.dtype == tl.int32 else tl.float32
    gate_in_ub = tl.alloc_ub(
        block_rows * pitch,
        dtype=tl.int32 if x.dtype == tl.int32 else tl.float32,
    )
    rest_in_ub = tl.alloc_ub(
        block_rows * pitch,
        dtype=tl.int32 if x.dtype == tl.int32 else tl.float32,
    )
    gate_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    rest_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    o_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.float32)
    y_ub = tl.alloc_ub(block_rows * pitch, dtype=tl.int8)
    bias_in_ub = tl.alloc_ub(pitch, dtype=of_bias)
    bias_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    weight_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    quant_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    offset_ub = tl.alloc_ub(pitch, dtype=tl.float32)
    activation_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    most_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    part_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    scale_ub = tl.alloc_ub(block_rows, dtype=tl.float32)
    index_ub = tl.alloc_ub(1024, dtype=group_index.dtype)
    counts_ub = tl.alloc_ub(1024, dtype=tl.float32)
    work_ub = tl.alloc_ub(1024, dtype=tl.float32)
    sum_ub = tl.alloc_ub(16, dtype=tl.float32)
    cores = tl.num_programs(0)
    first = 0
    blocks = 0
    from_group = 0
    to_group = groups
    # Of many groups a core has some, which begin behind the rows of those before; the blocks of few go to the cores in turn.
    own_groups = grouped and groups >= cores
    if own_groups:
        from_group = tl.program_id(0) * groups // cores
        to_group = (tl.program_id(0) + 1) * groups // cores
        for at in range(0, from_group, 1024):
            n = min(1024, from_group - at)
            with tl.copyin():
                tl.load(group_index + at, index_ub, count=n)
            with tl.compute():
                tl.cast(counts_ub, index_ub, count=n)
                tl.reduce_sum(sum_ub, counts_ub, work_ub, count=n)
                first = min(first + int(tl.extract_scalar(sum_ub, 0) + 0.5), rows)
    for group in range(from_group, to_group):
        last = min(first + int(tl.extract_scalar(group_index, group)), rows) if grouped else rows
        own = 0 if own_groups else (tl.program_id(0) - blocks) % cores
        for block in range(own, tl.cdiv(last - first, block_rows), 1 if own_groups else cores):
            row = first + block * block_rows
            height = min(block_rows, last - row)
            with tl.compute():
                tl.duplicate(most_ub, 0.0)
            for turn in range(0 if dynamic else 1, 2):
                for part in range(tl.cdiv(half, block_cols)):
                    col = part * block_cols
                    cols = min(block_cols, half - col)
                    gate_col = col + gate * half
                    rest_col = col + (1 - gate) * half
                    in_x = 2 * row * half
                    in_weight = 2 * group * half
                    in_quant = group * half + col
                    with tl.copyin():
                        tl.load_rows(
                            x + (in_x + gate_col),
                            gate_in_ub,
                            height,
                            cols,
                            2 * half,
                            pitch,
                        )
                        tl.load_rows(
                            x + (in_x + rest_col),
                            rest_in_ub,
                            height,
                            cols,
                            2 * half,
                            pitch,
                        )
                        tl.load(quant_scale + in_quant, quant_ub, count=cols)
                    with tl.compute():
                        tl.cast(gate_ub, gate_in_ub)
                        tl.cast(rest_ub, rest_in_ub)
                    if x.dtype == tl.int32:
                        if has_bias:
                            with tl.copyin():
                                tl.load(bias + gate_col, bias_in_ub, count=cols)
                            with tl.compute():
                                tl.cast(bias_ub, bias_in_ub, count=cols)
                                tl.vadd_row(gate_ub, gate_ub, bias_ub, height, cols, pitch)
                            with tl.copyin():
                                tl.load(bias + rest_col, bias_in_ub, count=cols)
                            with tl.compute():
                                tl.cast(bias_ub, bias_in_ub, count=cols)
                                tl.vadd_row(rest_ub, rest_ub, bias_ub, height, cols, pitch)
                        with tl.copyin():
                            tl.load(weight_scale + (in_weight + gate_col), weight_ub, count=cols)
                        with tl.compute():
                            tl.vmul_row(gate_ub, gate_ub, weight_ub, height, cols, pitch)
                        with tl.copyin():
                            tl.load(weight_scale + (in_weight + rest_col), weight_ub, count=cols)
                        with tl.compute():
                            tl.vmul_row(rest_ub, rest_ub, weight_ub, height, cols, pitch)
                        if has_activation_scale:
                            with tl.copyin():
                                tl.load(activation_scale + row, activation_ub, count=height)
                            with tl.compute():
                                tl.vmul_col(gate_ub, gate_ub, activation_ub, height, cols, pitch)
                                tl.vmul_col(rest_ub, rest_ub, activation_ub, height, cols, pitch)
                    with tl.compute():
                        tl.vneg(o_ub, gate_ub)
                        tl.vexp(o_ub, o_ub)
                        tl.vadd(o_ub, o_ub, 1.0)
                        tl.vdiv(o_ub, gate_ub, o_ub)
                        tl.vmul(o_ub, o_ub, rest_ub)
                        if dynamic:
                            tl.vmul_row(o_ub, o_ub, quant_ub, height, cols, pitch)
                    if turn == 0:
                        with tl.compute():
                            tl.vabs(gate_ub, o_ub)
                            tl.row_max(part_ub, gate_ub, height, cols, pitch)
                            tl.vmax(most_ub, most_ub, part_ub, count=height)
                    else:
                        if dynamic:
                            with tl.compute():
                                tl.duplicate(part_ub, 127.0)
                                tl.vdiv(part_ub, part_ub, most_ub)
                                tl.vmul_col(o_ub, o_ub, part_ub, height, cols, pitch)
                        else:
                            with tl.copyin():
                                tl.load(quant_offset + in_quant, offset_ub, count=cols)
                            with tl.compute():
                                tl.vdiv_row(o_ub, o_ub, quant_ub, height, cols, pitch)
                                tl.vadd_row(o_ub, o_ub, offset_ub, height, cols, pitch)
                        with tl.compute():
                            tl.cast(y_ub, o_ub)
                        with tl.copyout():
                            tl.store_rows(y + (row * half + col), y_ub, height, cols, half, pitch)
            if dynamic:
                with tl.compute():
                    tl.vdiv(scale_ub, most_ub, 127.0)
                with tl.copyout():
                    tl.store(scale + row, scale_ub, count=height)
        blocks += tl.cdiv(last - first, block_rows)
        first = last


def dequant_swiglu_quant_host(
    x: torch.Tensor,
    weight_scale: torch.Tensor = None,
    activation_scale: torch.Tensor = None,
    bias: torch.Tensor = None,
    quant_scale: torch.Tensor = None,
    quant_offset: torch.Tensor = None,
    group_index: torch.Tensor = None,
    y: torch.Tensor = None,
    scale: torch.Tensor = None,
    activate_left=False,
    quant_mode="static",
    tile: tl.constexpr = 2048,
):
    if x.numel() == 0:
        return
    assert quant_scale is not None, "no quant_scale"
    half = x.shape[-1] // 2
    rows = x.numel() // (2 * half)
    assert rows < 1 << 24, "more rows than float32 counts"
    groups = quant_scale.numel() // half
    block_cols = min(half, tile)
    pitch = tl.cdiv(block_cols, 32) * 32
    block_rows = max(1, min(tile // pitch, tl.cdiv(rows, tl.num_vec_cores())))
    dequant_swiglu_quant_kernel[min(tl.num_vec_cores(), rows)](
        x,
        weight_scale,
        activation_scale,
        bias,
        quant_scale,
        quant_offset,
        group_index,
        y,
        scale,
        quant_mode == "dynamic",
        bias is not None,
        activation_scale is not None,
        groups,
        group_index is not None,
        0 if activate_left else 1,
        rows,
        half,
        block_rows,
        block_cols,
        pitch,
    )
