import tile.language as tl


# loss = the mean over the rows of log(sum(exp(x - max))) - (x[target] - max), x a row of
# predictions. Rows that fit into a tile come many at once, longer ones in pieces: the sum goes
# along with the largest element so far. Cores add up shares of rows, all wait, and core 0 adds up
# their sums: the same for any number of cores.
@ascend_kernel
def cross_entropy_loss_kernel(predictions, targets, loss, sums, shares, tile):
    rows, cols = predictions.shape
    per_share = tl.cdiv(rows, shares)
    piece = min(cols, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=1)
    work_ub = tl.alloc_ub(max(tile, shares * 8), dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    own_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    loss_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    class_ub = tl.alloc_ub(tile // 16, dtype=tl.int64)
    index_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    row_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    all_ub = tl.alloc_ub(8, dtype=tl.float32)
    sums_ub = tl.alloc_ub(shares * 8, dtype=tl.float32)
    for share in range(tl.program_id(0), shares, tl.num_programs(0)):
        first = share * per_share
        last = min(first + per_share, rows)
        with tl.compute():
            tl.duplicate(loss_ub, 0.0)
            tl.duplicate(all_ub, 0.0)
            tl.iota(row_ub, 0, step=pitch * 4)
        if piece == cols:
            for row in range(first, last, step):
                n = min(step, last - row)
                with tl.copyin():
                    tl.load_rows(predictions + row * cols, x_ub, n, cols, cols, pitch)
                    tl.load(targets + row, class_ub, count=n)
                with tl.compute():
                    tl.row_max(part_ub, x_ub, n, cols, pitch)
                    tl.vsub_col(x_ub, x_ub, part_ub, n, cols, pitch)
                    tl.cast(index_ub, class_ub, count=n)
                    tl.vmul(index_ub, index_ub, 4, count=n)
                    tl.vadd(index_ub, index_ub, row_ub, count=n)
                    tl.gather(own_ub, x_ub, index_ub, 0, count=n)
                    tl.vexp(x_ub, x_ub, count=n * pitch)
                    tl.row_sum(part_ub, x_ub, n, cols, pitch)
                    tl.vln(part_ub, part_ub, count=n)
                    tl.vsub(part_ub, part_ub, own_ub, count=n)
                    tl.vadd(loss_ub, loss_ub, part_ub, count=n)
        else:
            for row in range(first, last):
                largest = -3.0e38
                sum = 0.0
                for at in range(0, cols, piece):
                    n = min(piece, cols - at)
                    with tl.copyin():
                        tl.load(predictions + row * cols + at, x_ub, count=n)
                    with tl.compute():
                        tl.reduce_max(part_ub, x_ub, work_ub, count=n)
                        before = largest
                        largest = tl.max(largest, tl.extract_scalar(part_ub, 0))
                        tl.vsub_scalar(x_ub, x_ub, largest, count=n)
                        tl.vexp(x_ub, x_ub, count=n)
                        tl.reduce_sum(part_ub, x_ub, work_ub, count=n)
                        sum = sum * tl.exp(before - largest) + tl.extract_scalar(part_ub, 0)
                own = tl.extract_scalar(predictions, row * cols + tl.extract_scalar(targets, row))
                with tl.compute():
                    tl.vadd_scalar(loss_ub, loss_ub, tl.log(sum) - (own - largest), count=1)
        with tl.compute():
            tl.reduce_sum(all_ub, loss_ub, work_ub)
        with tl.copyout():
            tl.store(sums + share * 8, all_ub)
    tl.sync_all()
    if tl.program_id(0) == 0:
        with tl.copyin():
            tl.load(sums, sums_ub)
        with tl.compute():
            tl.reduce_sum(all_ub, sums_ub, work_ub)
            tl.vmul_scalar(all_ub, all_ub, 1.0 / rows, count=1)
        with tl.copyout():
            tl.store(loss, all_ub, count=1)


def cross_entropy_loss_host(predictions, targets, loss, tile: tl.constexpr = 6144):
    rows, cols = predictions.shape
    if rows * cols == 0:
        return
    shares = min(48, rows)
    sums = torch.empty(shares * 8, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), shares)
    cross_entropy_loss_kernel[cores](predictions, targets, loss, sums, shares, tile)
