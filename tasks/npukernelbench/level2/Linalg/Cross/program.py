import tile.language as tl


# y = x1 x x2, the vector product along an axis of size 3. A tile holds the three parts of vectors, `apart` elements from each other:
# whole blocks of 3 * inner elements where those are short, else a cut of each part. Element c of y is
# x1[c + 1] * x2[c + 2] - x1[c + 2] * x2[c + 1], modulo 3: the next part and the one behind it are gathered.
@ascend_kernel
def cross_kernel(x1, x2, y, outer, inner, apart, vectors, cuts, units, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, units)
    given = tl.float32 if x1.dtype.is_floating_point else x1.dtype
    kind = tl.float32 if x1.dtype.is_floating_point else tl.int32
    x1_ub = tl.alloc_ub(tile, dtype=given, depth=4)
    x2_ub = tl.alloc_ub(tile, dtype=given)
    y_ub = tl.alloc_ub(tile, dtype=given, depth=3)
    a_ub = tl.alloc_ub(tile, dtype=kind)
    b_ub = tl.alloc_ub(tile, dtype=kind)
    left_ub = tl.alloc_ub(tile, dtype=kind)
    right_ub = tl.alloc_ub(tile, dtype=kind)
    number_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    step_ub = tl.alloc_ub(tile, dtype=tl.float32)
    last_ub = tl.alloc_ub(tile, dtype=tl.bool)
    next_ub = tl.alloc_ub(tile, dtype=tl.int32)
    behind_ub = tl.alloc_ub(tile, dtype=tl.int32)
    with tl.compute():
        # part = i // apart % 3: 0, 1 or 2.
        tl.iota(number_ub, 0.5)
        tl.vmul(part_ub, number_ub, 1.0 / apart)
        tl.vfloor(part_ub, part_ub)
        tl.vadd(step_ub, part_ub, 0.5)
        tl.vmul(step_ub, step_ub, 1.0 / 3.0)
        tl.vfloor(step_ub, step_ub)
        tl.vmul(step_ub, step_ub, 3.0)
        tl.vsub(part_ub, part_ub, step_ub)
        # Where the next part is, and the one behind it, in bytes.
        tl.vsub(number_ub, number_ub, 0.5)
        tl.vmul(number_ub, number_ub, 4.0)
        tl.vgt(last_ub, part_ub, 1.5)
        tl.vselect(step_ub, last_ub, -8.0 * apart, 4.0 * apart)
        tl.vadd(step_ub, step_ub, number_ub)
        tl.cast(next_ub, step_ub)
        tl.vgt(last_ub, part_ub, 0.5)
        tl.vselect(step_ub, last_ub, -4.0 * apart, 8.0 * apart)
        tl.vadd(step_ub, step_ub, number_ub)
        tl.cast(behind_ub, step_ub)
    for unit in range(start, end):
        vector = unit * vectors if vectors > 0 else unit // cuts
        at = 0 if vectors > 0 else unit % cuts * apart
        left = min(vectors, outer - vector) * 3 * inner if vectors > 0 else min(apart, inner - at)
        work = left if vectors > 0 else tile
        base = vector * 3 * inner + at
        with tl.copyin():
            tl.load(x1 + base, x1_ub, count=left)
            tl.load(x2 + base, x2_ub, count=left)
            if vectors == 0:
                for part in range(1, 3):
                    tl.load(x1 + base + part * inner, x1_ub[part * apart:], count=left)
                    tl.load(x2 + base + part * inner, x2_ub[part * apart:], count=left)
        with tl.compute():
            tl.cast(a_ub, x1_ub, count=work)
            tl.cast(b_ub, x2_ub, count=work)
            tl.gather(left_ub, a_ub, next_ub, 0, count=work)
            tl.gather(right_ub, b_ub, behind_ub, 0, count=work)
            tl.vmul(left_ub, left_ub, right_ub, count=work)
            tl.gather(right_ub, a_ub, behind_ub, 0, count=work)
            tl.gather(a_ub, b_ub, next_ub, 0, count=work)
            tl.vmul(right_ub, right_ub, a_ub, count=work)
            tl.vsub(left_ub, left_ub, right_ub, count=work)
            tl.cast(y_ub, left_ub, count=work)
        with tl.copyout():
            tl.store(y + base, y_ub, count=left)
            if vectors == 0:
                for part in range(1, 3):
                    tl.store(y + base + part * inner, y_ub[part * apart:], count=left)


def cross_host(
    x1: torch.Tensor,
    x2: torch.Tensor,
    y: torch.Tensor,
    dim: int,
    tile: tl.constexpr = 1536,
):
    if x1.numel() == 0:
        return
    axis = dim + x1.ndim if dim < 0 else dim
    inner = 1
    for i in range(axis + 1, x1.ndim):
        inner *= x1.shape[i]
    outer = x1.numel() // (3 * inner)
    # As many blocks as a tile holds; 0: one is longer.
    vectors = tile // (3 * inner)
    apart = inner if vectors > 0 else tile // 3
    cuts = tl.cdiv(inner, apart)
    units = tl.cdiv(outer, vectors) if vectors > 0 else outer * cuts
    cores = min(tl.num_vec_cores(), units)
    per_core = tl.cdiv(units, cores)
    cross_kernel[cores](x1, x2, y, outer, inner, apart, vectors, cuts, units, per_core, tile)
