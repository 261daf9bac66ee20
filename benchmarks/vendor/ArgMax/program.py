import tile.language as tl


# The largest along the middle axis, and where it stands. With one element behind that axis: cores take rows. With more: cores take
# blocks of columns, and go through the rows with the largest so far.
@ascend_kernel
def arg_max_kernel(x, values, indices, outer, size, inner, wide, tile, most):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    best_ub = tl.alloc_ub(most, dtype=tl.float32)
    value_ub = tl.alloc_ub(most, dtype=tl.float32)
    where_ub = tl.alloc_ub(most, dtype=tl.float32)
    larger_ub = tl.alloc_ub(most, dtype=tl.bool)
    index_ub = tl.alloc_ub(most, dtype=tl.int32)
    if inner == 1:
        pitch = tl.pitch(size)
        step = min(tile // pitch, wide)
        for row in range(core * wide, min((core + 1) * wide, outer), step):
            n = min(step, min((core + 1) * wide, outer) - row)
            with tl.copyin():
                tl.load_rows(x + row * size, x_ub, n, size, size, pitch)
            with tl.compute():
                tl.row_argmax(index_ub, x_ub, n, size, pitch)
                tl.row_max(value_ub, x_ub, n, size, pitch)
            with tl.copyout():
                tl.store(indices + row, index_ub, count=n)
                tl.store(values + row, value_ub, count=n)
    else:
        across = tl.cdiv(inner, wide)
        for block in range(core, outer * across, cores):
            row = block // across
            col = block % across * wide
            n = min(wide, inner - col)
            with tl.compute():
                tl.duplicate(best_ub, float("-inf"), count=n)
                tl.duplicate(where_ub, 0.0, count=n)
            for i in range(size):
                with tl.copyin():
                    tl.load(x + (row * size + i) * inner + col, x_ub, count=n)
                with tl.compute():
                    tl.vgt(larger_ub, x_ub, best_ub, count=n)
                    tl.vselect(where_ub, larger_ub, float(i), where_ub, count=n)
                    tl.vmax(best_ub, best_ub, x_ub, count=n)
            with tl.compute():
                tl.vadd_scalar(value_ub, best_ub, 0.0, count=n)
                tl.cast(index_ub, where_ub, count=n)
            with tl.copyout():
                tl.store(indices + row * inner + col, index_ub, count=n)
                tl.store(values + row * inner + col, value_ub, count=n)


def arg_max_host(
    x: torch.Tensor,
    k: torch.Tensor,
    values: torch.Tensor,
    indices: torch.Tensor,
    tile: tl.constexpr = 4608,
    most: tl.constexpr = 4608,
):
    outer, size, inner = x.shape
    if x.numel() == 0:
        return
    cores = tl.num_vec_cores()
    if inner == 1:
        assert tl.pitch(size) <= tile
        wide = tl.cdiv(tl.cdiv(outer, cores), 8) * 8
        cores = tl.cdiv(outer, wide)
    else:
        wide = tl.cdiv(tl.cdiv(inner, tl.cdiv(inner, most)), 64) * 64
        cores = min(cores, outer * tl.cdiv(inner, wide))
    arg_max_kernel[cores](x, values, indices, outer, size, inner, wide, tile, most)
