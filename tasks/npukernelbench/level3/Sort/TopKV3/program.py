import tile.language as tl


# The k largest elements of each row of x, in order, and where they stand: a row is sorted. Of a row that is longer than a tile, the k
# best so far are sorted once more with each piece that follows. The smallest are the last of what is sorted, taken from the end.
@ascend_kernel
def top_k_kernel(x, values, indices, rows, cols, k, largest, first, most):
    start = tl.program_id(0) * rows // tl.num_programs(0)
    end = (tl.program_id(0) + 1) * rows // tl.num_programs(0)
    x_ub = tl.alloc_ub(most, dtype=tl.float32)
    values_ub = tl.alloc_ub(most, dtype=tl.float32)
    places_ub = tl.alloc_ub(most, dtype=tl.int32)
    pick_ub = tl.alloc_ub(most, dtype=tl.int32)
    best_ub = tl.alloc_ub(most, dtype=tl.float32)
    where_ub = tl.alloc_ub(most, dtype=tl.int32)
    # The best stand from 0 on, a piece from `room` on; `order` leaves no gap between them.
    room = tl.pitch(k)
    piece = max(1, most - room)
    both_ub = tl.alloc_ub(most, dtype=tl.float32)
    all_where_ub = tl.alloc_ub(most, dtype=tl.int32)
    order_ub = tl.alloc_ub(most, dtype=tl.int32)
    behind_ub = tl.alloc_ub(most, dtype=tl.bool)
    with tl.compute():
        tl.iota(order_ub, 0, step=4)
        tl.iota(pick_ub, 4 * (room - k), step=4)
        tl.vge(behind_ub, order_ub, 4 * k)
        tl.vselect(order_ub, behind_ub, pick_ub, order_ub)
    for row in range(start, end):
        with tl.copyin():
            tl.load(x + row * cols, x_ub, count=first)
        with tl.compute():
            tl.sort(values_ub, places_ub, x_ub, first)
            if largest:
                tl.iota(pick_ub, 0, step=4, count=k)
            else:
                tl.iota(pick_ub, 4 * (first - 1), step=-4, count=k)
            tl.gather(best_ub, values_ub, pick_ub, 0, count=k)
            tl.gather(where_ub, places_ub, pick_ub, 0, count=k)
        for at in range(first, cols, piece):
            n = min(piece, cols - at)
            with tl.copyin():
                tl.load(x + row * cols + at, x_ub, count=n)
            with tl.compute():
                tl.vmul_scalar(both_ub, best_ub, 1.0, count=k)
                tl.vmul_scalar(both_ub + room, x_ub, 1.0, count=n)
                tl.vadd_scalar(all_where_ub, where_ub, 0, count=k)
                tl.iota(all_where_ub + room, at, count=n)
                tl.gather(values_ub, both_ub, order_ub, 0, count=k + n)
                tl.sort(both_ub, places_ub, values_ub, k + n)
                # Where the sorted ones stand in the row.
                tl.vmul_scalar(places_ub, places_ub, 4, count=k + n)
                tl.gather(pick_ub, order_ub, places_ub, 0, count=k + n)
                tl.gather(places_ub, all_where_ub, pick_ub, 0, count=k + n)
                if largest:
                    tl.iota(pick_ub, 0, step=4, count=k)
                else:
                    tl.iota(pick_ub, 4 * (k + n - 1), step=-4, count=k)
                tl.gather(best_ub, both_ub, pick_ub, 0, count=k)
                tl.gather(where_ub, places_ub, pick_ub, 0, count=k)
        with tl.copyout():
            tl.store(values + row * k, best_ub, count=k)
            tl.store(indices + row * k, where_ub, count=k)


def top_k_host(
    x: torch.Tensor,
    values: torch.Tensor,
    indices: torch.Tensor,
    largest: bool,
    most: tl.constexpr = 2560,
):
    cols = x.shape[-1]
    k = values.shape[-1]
    if values.numel() == 0:
        return
    first = min(cols, most)
    assert cols <= most or k <= most // 2, "more elements of long rows than half a tile"
    rows = x.numel() // cols
    cores = min(tl.num_vec_cores(), rows)
    top_k_kernel[cores](x, values, indices, rows, cols, k, largest, first, most)
