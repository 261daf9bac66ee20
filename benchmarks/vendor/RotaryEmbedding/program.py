import tile.language as tl


# y = x * cos + turned(x) * sin, where turned() swaps the two elements of each pair, of which the first is negated: neighbours, or
# elements half a head apart. Cores take pieces of `places` positions of a batch, in order of the positions: cos and sin are spread
# over a piece's heads, by gather, when the positions change.
@ascend_kernel
def rotary_embedding_kernel(
    query,
    key,
    cos,
    sin,
    query_out,
    key_out,
    neighbours,
    batch,
    length,
    heads,
    size,
    places,
    pieces,
    per_core,
    tile,
):
    core = tl.program_id(0)
    half = size // 2
    angle_ub = tl.alloc_ub(tile // 2, dtype=tl.float32)
    cos_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sin_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    turned_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    index_ub = tl.alloc_ub(tile, dtype=tl.int32)
    swap_ub = tl.alloc_ub(tile, dtype=tl.int32)
    row_ub = tl.alloc_ub(256, dtype=tl.int32)
    sign_ub = tl.alloc_ub(256, dtype=tl.float32)
    place_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    zero_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    lines = places * heads
    with tl.compute():
        tl.duplicate(zero_ub, 0.0)
        # Bytes from the first angle of a position to that of each element of a head.
        if neighbours:
            tl.iota(row_ub, 0, count=size)
            tl.vshift_right(row_ub, row_ub, 1, count=size)
            tl.iota(swap_ub, 0, count=lines * size)
            tl.duplicate(index_ub, 1, count=lines * size)
            tl.vxor(swap_ub, swap_ub, index_ub, count=lines * size)
            tl.vmul(swap_ub, swap_ub, 4, count=lines * size)
        else:
            tl.iota(row_ub, 0, count=half)
            tl.iota(row_ub + half, 0, count=half)
        tl.vmul(row_ub, row_ub, 4, count=size)
        tl.duplicate(sign_ub, 1.0, count=size)
        if neighbours:
            for i in range(0, size, 2):
                tl.set_scalar(sign_ub, i, -1.0)
        else:
            tl.duplicate(sign_ub, -1.0, count=half)
        for line in range(lines):
            tl.set_scalar(place_ub, line, line // heads * half * 4)
        tl.broadcast_row(index_ub, row_ub, lines, size, size)
        tl.vadd_col(index_ub, index_ub, place_ub, lines, size, size)
    before = -1
    for piece in range(core * per_core, min((core + 1) * per_core, pieces)):
        first = piece // batch * places
        n = min(places, length - first)
        count = n * heads * size
        at = (piece % batch * length + first) * heads * size
        if first != before:
            before = first
            with tl.copyin():
                tl.load(cos + first * half, angle_ub, count=n * half)
            with tl.compute():
                tl.gather(cos_ub, angle_ub, index_ub, 0, count=count)
            with tl.copyin():
                tl.load(sin + first * half, angle_ub, count=n * half)
            with tl.compute():
                tl.gather(sin_ub, angle_ub, index_ub, 0, count=count)
                tl.vmul_row(sin_ub, sin_ub, sign_ub, n * heads, size, size)
        for of in range(2):
            with tl.copyin():
                if of == 0:
                    tl.load(query + at, x_ub, count=count)
                else:
                    tl.load(key + at, x_ub, count=count)
            with tl.compute():
                if neighbours:
                    tl.gather(turned_ub, x_ub, swap_ub, 0, count=count)
                else:
                    tl.vadd_col(turned_ub, x_ub + half, zero_ub, n * heads, half, size)
                    tl.vadd_col(turned_ub + half, x_ub, zero_ub, n * heads, half, size)
                tl.vmul(turned_ub, turned_ub, sin_ub, count=count)
                tl.vmul(y_ub, x_ub, cos_ub, count=count)
                tl.vadd(y_ub, y_ub, turned_ub, count=count)
            with tl.copyout():
                if of == 0:
                    tl.store(query_out + at, y_ub, count=count)
                else:
                    tl.store(key_out + at, y_ub, count=count)


def rotary_embedding_host(
    query: torch.Tensor,
    key: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    query_out: torch.Tensor,
    key_out: torch.Tensor,
    mode: str = "half",
    tile: tl.constexpr = 4096,
):
    batch, length, heads, size = query.shape
    if query.numel() == 0:
        return
    assert heads * size <= tile
    assert size <= 256
    places = tile // (heads * size)
    pieces = tl.cdiv(length, places) * batch
    cores = min(tl.num_vec_cores(), pieces)
    rotary_embedding_kernel[cores](
        query,
        key,
        cos,
        sin,
        query_out,
        key_out,
        mode == "interleaved",
        batch,
        length,
        heads,
        size,
        places,
        pieces,
        tl.cdiv(pieces, cores),
        tile,
    )
