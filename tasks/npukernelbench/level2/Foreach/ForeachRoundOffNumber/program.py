import tile.language as tl


# y[t] = x[t] rounded to a whole number, element by element, for every tensor of the list. roundMode: 1 to
# the nearest, halves to the even one, 2 down, 3 up, 4 halves away from 0, 5 towards 0, 6 halves to the
# odd one, 7 what follows the point; otherwise y = x.
# The tensors of a list are one sequence for the cores, each padded to a multiple of 64 elements.
@ascend_kernel
def foreach_round_off_number_kernel(x, roundMode, y, per_core, tile):
    start = tl.program_id(0) * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    whole_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    half_ub = tl.alloc_ub(tile, dtype=tl.bool)
    value = tl.extract_scalar(roundMode, 0)
    begin = 0
    for t in range(len(x)):
        end = min(start + per_core - begin, x[t].numel())
        for at in range(max(start - begin, 0), end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x[t] + offsets, x_ub, mask=offsets < end)
            with tl.compute():
                tl.vtrunc(whole_ub, x_ub)
                tl.vsub(part_ub, x_ub, whole_ub)
                if value == 1:
                    tl.vround(y_ub, x_ub)
                elif value == 2:
                    tl.vfloor(y_ub, x_ub)
                elif value == 3:
                    tl.vceil(y_ub, x_ub)
                elif value == 4:
                    # From a half on, twice the part cut off is the sign.
                    tl.vadd(part_ub, part_ub, part_ub)
                    tl.vtrunc(part_ub, part_ub)
                    tl.vadd(y_ub, whole_ub, part_ub)
                elif value == 5:
                    tl.vtrunc(y_ub, x_ub)
                elif value == 6:
                    # The even neighbour and the odd one of a half x are 2 * x together.
                    tl.vround(y_ub, x_ub)
                    tl.vadd(whole_ub, x_ub, x_ub)
                    tl.vsub(whole_ub, whole_ub, y_ub)
                    tl.vabs(part_ub, part_ub)
                    tl.veq(half_ub, part_ub, 0.5)
                    tl.vselect(y_ub, half_ub, whole_ub, y_ub)
                elif value == 7:
                    tl.vsub(y_ub, x_ub, whole_ub)
                else:
                    tl.cast(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[t] + offsets, y_ub, mask=offsets < end)
        begin += tl.cdiv(x[t].numel(), 64) * 64


def foreach_round_off_number_host(
    x: list[torch.Tensor],
    roundMode: torch.Tensor,
    y: list[torch.Tensor],
    tile: tl.constexpr = 4096,
):
    total = 0
    for t in range(len(x)):
        total += tl.cdiv(x[t].numel(), 64) * 64
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    foreach_round_off_number_kernel[cores](x, roundMode, y, per_core, tile)
