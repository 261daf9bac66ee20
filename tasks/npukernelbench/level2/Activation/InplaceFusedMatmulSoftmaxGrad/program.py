import tile.language as tl


# g = grad * transpose(values), then y becomes (g - sum(y * g)) * y with the sum over a row of y.
# A core's share are columns of y, which are rows of values; several of them come at once, and a
# row of g is their sums with a row of grad. Each core adds up y * g over its columns, all wait,
# and each adds up the sums of all cores.
@ascend_kernel
def matmul_softmax_grad_kernel(y, grad, values, products, sums, per_core, wide, tile):
    rows, cols, depth = y.shape[0], y.shape[1], grad.shape[1]
    pid = tl.program_id(0)
    cores = tl.num_programs(0)
    first = pid * per_core
    last = min(first + per_core, cols)
    piece = min(depth, tile // 256 * 16)
    pitch = tl.pitch(piece)
    step = min(tile // wide, tile // pitch)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    values_ub = tl.alloc_ub(tile, dtype=tl.float32)
    grad_ub = tl.alloc_ub(tile, dtype=tl.float32)
    g_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for row in range(0, rows, step):
        n = min(step, rows - row)
        with tl.compute():
            tl.duplicate(sum_ub, 0.0, count=n)
        for col in range(first, last, wide):
            m = min(wide, last - col)
            with tl.compute():
                tl.duplicate(g_ub, 0.0)
            for at in range(0, depth, piece):
                k = min(piece, depth - at)
                with tl.copyin():
                    tl.load_rows(values + col * depth + at, values_ub, m, k, depth, pitch)
                    tl.load_rows(grad + row * depth + at, grad_ub, n, k, depth, pitch)
                with tl.compute():
                    for r in range(n):
                        tl.vmul_row(work_ub, values_ub, grad_ub + r * pitch, m, k, pitch)
                        tl.row_sum(part_ub, work_ub, m, k, pitch)
                        tl.vadd(g_ub + r * wide, g_ub + r * wide, part_ub, count=m)
            with tl.copyin():
                tl.load_rows(y + row * cols + col, y_ub, n, m, cols, wide)
            with tl.compute():
                tl.vmul(work_ub, y_ub, g_ub, count=n * wide)
                tl.row_sum(part_ub, work_ub, n, m, wide)
                tl.vadd(sum_ub, sum_ub, part_ub, count=n)
            with tl.copyout():
                tl.store_rows(products + row * cols + col, g_ub, n, m, cols, wide)
        with tl.copyout():
            tl.store(sums + pid * rows + row, sum_ub, count=n)
    tl.sync_all()
    for row in range(0, rows, step):
        n = min(step, rows - row)
        with tl.compute():
            tl.duplicate(sum_ub, 0.0, count=n)
        for core in range(cores):
            with tl.copyin():
                tl.load(sums + core * rows + row, part_ub, count=n)
            with tl.compute():
                tl.vadd(sum_ub, sum_ub, part_ub, count=n)
        for col in range(first, last, wide):
            m = min(wide, last - col)
            with tl.copyin():
                tl.load_rows(y + row * cols + col, y_ub, n, m, cols, wide)
                tl.load_rows(products + row * cols + col, g_ub, n, m, cols, wide)
            with tl.compute():
                tl.vsub_col(g_ub, g_ub, sum_ub, n, m, wide)
                tl.vmul(work_ub, y_ub, g_ub, count=n * wide)
            with tl.copyout():
                tl.store_rows(y + row * cols + col, work_ub, n, m, cols, wide)


def matmul_softmax_grad_host(softmaxOutput, gradOutput, values, tile: tl.constexpr = 4096):
    rows, cols = softmaxOutput.shape
    if rows * cols == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(cols, 16))
    per_core = tl.cdiv(tl.cdiv(cols, cores), 16) * 16
    wide = min(
        per_core,
        tile // tl.pitch(min(values.shape[1], tile // 256 * 16)) // 16 * 16,
        tile // 256 * 16,
    )
    products = torch.empty(rows * cols, dtype=tl.float32)
    sums = torch.empty(cores * rows, dtype=tl.float32)
    matmul_softmax_grad_kernel[cores](
        softmaxOutput,
        gradOutput,
        values,
        products,
        sums,
        per_core,
        wide,
        tile,
    )
