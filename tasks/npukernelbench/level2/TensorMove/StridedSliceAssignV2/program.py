import tile.language as tl


# The slice of var becomes the values: element (.., i, ..) of them goes to begin + i * stride along each axis that is sliced. The last
# two axes are moved as matrices, several rows at once or one in pieces; rows of a last axis that is taken with a step are stored
# element by element by the copy itself, as rows of one element. The cores share the rows, and the columns where rows are few.
@ascend_kernel
def assign_kernel(
    var,
    value,
    begin,
    strides,
    axes,
    named,
    var_shape,
    shape,
    sliced,
    parts,
    width,
    tile,
):
    ub = tl.alloc_ub(tile, dtype=value.dtype)
    rank = len(shape)
    cols = shape[rank - 1]
    block = shape[rank - 2] if rank > 1 else 1
    rows = value.numel() // cols
    shares = tl.num_programs(0) // parts
    row = tl.program_id(0) // parts * rows // shares
    end = (tl.program_id(0) // parts + 1) * rows // shares
    left_col = tl.program_id(0) % parts * width
    right_col = min(left_col + width, cols)
    while row < end:
        # Where the row begins in var, and how far behind it the next one of the same block.
        target = 0
        col_step = 1
        row_step = cols
        left = row
        size = 1
        for back in range(rank):
            axis = rank - 1 - back
            place = 0
            if back > 0:
                place = left % shape[axis]
                left = left // shape[axis]
            step = 1
            for k in range(sliced):
                which = k
                if named:
                    which = int(tl.extract_scalar(axes, k))
                if which == axis:
                    step = int(tl.extract_scalar(strides, k))
                    target += int(tl.extract_scalar(begin, k)) * size
            target += place * step * size
            if back == 0:
                col_step = step
            if back == 1:
                row_step = step * size
            size *= var_shape[axis]
        run = min(end - row, block - row % block)
        if col_step == 1:
            for at in range(left_col, right_col, tile):
                count = min(right_col - at, tile)
                pitch = tl.cdiv(count, 32) * 32
                many = min(tile // pitch, 4095)
                for first in range(0, run, many):
                    n = min(run - first, many)
                    with tl.copyin():
                        tl.load_rows(value + (row + first) * cols + at, ub, n, count, cols, pitch)
                    with tl.copyout():
                        tl.store_rows(
                            var + target + first * row_step + at,
                            ub,
                            n,
                            count,
                            row_step,
                            pitch,
                        )
        else:
            many = min(tile // 32, 4095)
            for i in range(run):
                for at in range(left_col, right_col, many):
                    n = min(right_col - at, many)
                    with tl.copyin():
                        tl.load_rows(value + (row + i) * cols + at, ub, n, 1, 1, 32)
                    with tl.copyout():
                        tl.store_rows(
                            var + target + i * row_step + at * col_step,
                            ub,
                            n,
                            1,
                            col_step,
                            32,
                        )
        row += run


def assign_host(
    var: torch.Tensor,
    input_value: torch.Tensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    axes: torch.Tensor = None,
    tile: tl.constexpr = 4096,
):
    if input_value.numel() == 0:
        return
    cols = input_value.shape[input_value.ndim - 1]
    rows = input_value.numel() // cols
    shares = min(tl.num_vec_cores(), rows)
    parts = max(min(tl.num_vec_cores() // shares, tl.cdiv(cols, 256)), 1)
    width = tl.cdiv(cols, parts)
    named = axes is not None
    sliced = begin.numel()
    assign_kernel[shares * parts](
        var,
        input_value,
        begin,
        strides,
        axes,
        named,
        var.shape,
        input_value.shape,
        sliced,
        parts,
        width,
        tile,
    )
