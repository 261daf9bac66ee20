import tile.language as tl


# The k largest elements of each row of x, in order, and where they stand: each row is sorted. The smallest are the last of them,
# taken from the end.
@ascend_kernel
def top_k_kernel(x, values, indices, rows, cols, k, per_core, largest, most):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, rows)
    x_ub = tl.alloc_ub(most, dtype=tl.float32)
    values_ub = tl.alloc_ub(most, dtype=tl.float32)
    indices_ub = tl.alloc_ub(most, dtype=tl.int32)
    last_ub = tl.alloc_ub(most, dtype=tl.int32)
    least_ub = tl.alloc_ub(most, dtype=tl.float32)
    where_ub = tl.alloc_ub(most, dtype=tl.int32)
    with tl.compute():
        tl.iota(last_ub, (cols - 1) * 4, step=-4, count=k)
    for row in range(start, end):
        with tl.copyin():
            tl.load(x + row * cols, x_ub, count=cols)
        with tl.compute():
            tl.sort(values_ub, indices_ub, x_ub, cols)
            if not largest:
                tl.gather(least_ub, values_ub, last_ub, 0, count=k)
                tl.gather(where_ub, indices_ub, last_ub, 0, count=k)
        with tl.copyout():
            if largest:
                tl.store(values + row * k, values_ub, count=k)
                tl.store(indices + row * k, indices_ub, count=k)
            else:
                tl.store(values + row * k, least_ub, count=k)
                tl.store(indices + row * k, where_ub, count=k)


def top_k_host(
    x: torch.Tensor,
    values: torch.Tensor,
    indices: torch.Tensor,
    largest: bool,
    most: tl.constexpr = 3072,
):
    cols = x.shape[-1]
    k = values.shape[-1]
    if values.numel() == 0:
        return
    assert cols <= most
    rows = x.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    per_core = tl.cdiv(rows, cores)
    top_k_kernel[cores](x, values, indices, rows, cols, k, per_core, largest, most)
