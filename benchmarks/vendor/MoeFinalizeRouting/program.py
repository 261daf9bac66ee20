import tile.language as tl


# y[r] = skip1[r] + skip2[r] + the sum over j of scales[r][j] * (x[index[j * rows + r]] + bias[experts[r][j]]). Cores take rows.
@ascend_kernel
def moe_finalize_routing_kernel(x, index, skip1, skip2, scales, bias, experts, y, biased, rows, each, width, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile, dtype=tl.float32)
    skip1_ub = tl.alloc_ub(tile, dtype=tl.float32)
    skip2_ub = tl.alloc_ub(tile, dtype=tl.float32)
    term_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for row in range(first, last):
        with tl.copyin():
            tl.load(skip1 + row * width, skip1_ub, count=width)
            tl.load(skip2 + row * width, skip2_ub, count=width)
        with tl.compute():
            tl.vadd(sum_ub, skip1_ub, skip2_ub, count=width)
        for j in range(each):
            scale = float(tl.extract_scalar(scales, row * each + j))
            place = int(tl.extract_scalar(index, j * rows + row))
            with tl.copyin():
                tl.load(x + place * width, x_ub, count=width)
            if biased:
                expert = int(tl.extract_scalar(experts, row * each + j))
                with tl.copyin():
                    tl.load(bias + expert * width, bias_ub, count=width)
                with tl.compute():
                    tl.vadd(term_ub, x_ub, bias_ub, count=width)
                    tl.vaxpy(sum_ub, term_ub, scale, count=width)
            else:
                with tl.compute():
                    tl.vaxpy(sum_ub, x_ub, scale, count=width)
        with tl.compute():
            tl.vadd_scalar(y_ub, sum_ub, 0.0, count=width)
        with tl.copyout():
            tl.store(y + row * width, y_ub, count=width)


def moe_finalize_routing_host(
    x: torch.Tensor,
    index: torch.Tensor,
    skip1: torch.Tensor,
    skip2: torch.Tensor,
    scales: torch.Tensor,
    bias: torch.Tensor = None,
    experts_for_rows: torch.Tensor = None,
    y: torch.Tensor = None,
    tile: tl.constexpr = 2048,
):
    rows, width = y.shape
    each = scales.shape[1]
    if rows * width == 0:
        return
    assert width <= tile
    cores = min(tl.num_vec_cores(), rows)
    moe_finalize_routing_kernel[cores](
        x,
        index,
        skip1,
        skip2,
        scales,
        bias,
        experts_for_rows,
        y,
        bias is not None,
        rows,
        each,
        width,
        tl.cdiv(rows, cores),
        tile,
    )
