import tile.language as tl


# Entry e is added to the new entry unique[e]. A core has some of the new entries and some columns of their rows of `inner` values: of
# each piece of unique it takes the entries that belong to its own, and adds their rows in the order in which they stand, so sums do
# not depend on the number of cores.
@ascend_kernel
def coalesce_kernel(
    unique,
    indices,
    values,
    new_indices,
    new_values,
    entries,
    made,
    inner,
    width,
    parts,
    tile,
    room,
):
    groups = tl.num_programs(0) // parts
    first = tl.program_id(0) // parts * made // groups
    last = (tl.program_id(0) // parts + 1) * made // groups
    part = tl.program_id(0) % parts * width
    unique_ub = tl.alloc_ub(tile, dtype=unique.dtype)
    wanted_ub = tl.alloc_ub(tile, dtype=tl.int32)
    entry_ub = tl.alloc_ub(tile, dtype=tl.int32)
    from_ub = tl.alloc_ub(tile, dtype=tl.int32)
    to_ub = tl.alloc_ub(tile, dtype=tl.int32)
    above_ub = tl.alloc_ub(tile, dtype=tl.bool)
    below_ub = tl.alloc_ub(tile, dtype=tl.bool)
    index_ub = tl.alloc_ub(room, dtype=indices.dtype)
    value_ub = tl.alloc_ub(room, dtype=values.dtype)
    seen_ub = tl.alloc_ub(tile, dtype=tl.int32)
    columns = indices.shape[1]
    for low in range(first, last, tile):
        high = min(low + tile, last)
        with tl.compute():
            tl.duplicate(seen_ub, 0)
        for piece in range(0, entries, tile):
            n = min(entries - piece, tile)
            with tl.copyin():
                tl.load(unique + piece, unique_ub, count=n)
            with tl.compute():
                tl.cast(wanted_ub, unique_ub, count=n)
                tl.vge(above_ub, wanted_ub, low, count=n)
                tl.vlt(below_ub, wanted_ub, high, count=n)
                tl.vand(above_ub, above_ub, below_ub, count=n)
                tl.iota(entry_ub, piece, count=n)
                found = tl.compress(from_ub, entry_ub, above_ub, count=n)
                found = tl.compress(to_ub, wanted_ub, above_ub, count=n)
            for i in range(found):
                source = int(tl.extract_scalar(from_ub, i))
                target = int(tl.extract_scalar(to_ub, i))
                if part == 0 and tl.extract_scalar(seen_ub, target - low) == 0:
                    # all entries of a new one have the same indices: the first gives them
                    with tl.compute():
                        tl.set_scalar(seen_ub, target - low, 1)
                    for at in range(0, columns, room):
                        taken = min(columns - at, room)
                        with tl.copyin():
                            tl.load(indices + source * columns + at, index_ub, count=taken)
                        with tl.copyout():
                            tl.store(new_indices + target * columns + at, index_ub, count=taken)
                end = min(part + width, inner)
                for at in range(part, end, room):
                    with tl.copyin():
                        tl.load(values + source * inner + at, value_ub, count=min(end - at, room))
                    with tl.copyout():
                        tl.store_add(
                            new_values + target * inner + at,
                            value_ub,
                            count=min(end - at, room),
                        )


def coalesce_host(
    unique_len: torch.Tensor,
    unique_indices: torch.Tensor,
    indices: torch.Tensor,
    values: torch.Tensor,
    new_indices: torch.Tensor,
    new_values: torch.Tensor,
    tile: tl.constexpr = 512,
    room: tl.constexpr = 4096,
):
    entries = unique_indices.numel()
    made = unique_len.numel()
    if entries == 0:
        return
    inner = values.numel() // entries
    groups = min(tl.num_vec_cores(), made)
    parts = max(min(tl.num_vec_cores() // groups, tl.cdiv(inner, 256)), 1)
    width = tl.cdiv(tl.cdiv(inner, parts), 16) * 16
    coalesce_kernel[groups * parts](
        unique_indices,
        indices,
        values,
        new_indices,
        new_values,
        entries,
        made,
        inner,
        width,
        parts,
        tile,
        room,
    )
