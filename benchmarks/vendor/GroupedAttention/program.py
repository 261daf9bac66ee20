import tile.language as tl

KEYS = 4096  # at most


# softmax(query key^T / sqrt(size)) value; `each` heads share one of key and value. Many queries: a unit is a block of queries of a head.
# Few: the heads of a query that share a key head. The cube multiplies the queries of the units of a round by their keys, the vector
# cores make weights of the products, and the cube multiplies these by the values; what is in between lies in the workspace, which
# holds two rounds, so that cube and vector cores work side by side. Causal:
# query i sees the keys up to its own, and what a unit does not see it does not compute.
@ascend_kernel
def grouped_attention_kernel(
    query,
    key,
    value,
    y,
    scores,
    weights,
    scale,
    causal,
    by_head,
    batch,
    queries,
    heads,
    size,
    keys,
    kv_heads,
    each,
    high,
    units,
    own,
    rounds,
    room,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    left_l1 = tl.alloc_l1((tile_m, tile_k), dtype=query.dtype)
    key_l1 = tl.alloc_l1((tile_n, tile_k), dtype=query.dtype)
    value_l1 = tl.alloc_l1((tile_k, tile_n), dtype=query.dtype)
    product_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    score_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    column_ub = tl.alloc_ub(KEYS, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    limit_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    blocks = tl.cdiv(queries, high) if by_head else queries
    columns = heads if by_head else kv_heads
    pitch_q = heads * size if by_head else size
    pitch_kv = kv_heads * size
    if causal and by_head:
        with tl.compute():
            tl.iota(column_ub, 0.0)
    # A turn: the results of a round, the weights of the next, the products of the one behind that.
    per_round = own * cores
    for turn in range(rounds + 2):
        first_0 = turn * per_round
        first_1 = (turn - 1) * per_round
        first_2 = (turn - 2) * per_round
        half_0 = turn % 2 * per_round
        half_1 = (turn + 1) % 2 * per_round
        half_2 = half_0
        for unit in range(max(first_2 + core * own, 0), min(first_2 + (core + 1) * own, units)):
            b = unit // blocks // columns
            column = unit // blocks % columns
            kv = column // each if by_head else column
            begin = unit % blocks * high if by_head else unit % blocks
            rows = min(high, queries - begin) if by_head else each
            head = column if by_head else kv * each
            start = ((b * queries + begin) * heads + head) * size
            seen = min(keys, keys - queries + begin + (rows if by_head else 1)) if causal else keys
            place = (unit - first_2 + half_2) * room
            for at in range(0, seen, tile_k):
                depth = min(tile_k, seen - at)
                with tl.copyin():
                    tl.load_tile(weights + place + at, left_l1, rows, depth, keys)
                    tl.load_tile(
                        value + ((b * keys + at) * kv_heads + kv) * size,
                        value_l1,
                        depth,
                        size,
                        pitch_kv,
                    )
                with tl.compute():
                    tl.gemm(product_l0, left_l1, value_l1, rows, size, depth, init=at == 0)
            with tl.copyout():
                tl.store_tile(y + start, product_l0, rows, size, pitch_q)
        for unit in range(max(first_1 + core * own, 0), min(first_1 + (core + 1) * own, units)):
            begin = unit % blocks * high if by_head else unit % blocks
            rows = min(high, queries - begin) if by_head else each
            seen = min(keys, keys - queries + begin + (rows if by_head else 1)) if causal else keys
            place = (unit - first_1 + half_1) * room
            pitch = tl.pitch(seen)
            step = tile // pitch
            for line in range(0, rows, step):
                n = min(step, rows - line)
                with tl.copyin():
                    tl.load_rows(scores + place + line * keys, score_ub, n, seen, keys, pitch)
                with tl.compute():
                    tl.vmul_scalar(weight_ub, score_ub, scale, count=n * pitch)
                    if causal and by_head:
                        # What lies behind a query's own key is far below all others.
                        tl.iota(limit_ub, float(keys - queries + begin + line), count=n)
                        tl.broadcast_row(score_ub, column_ub, n, seen, pitch)
                        tl.vsub_col(score_ub, score_ub, limit_ub, n, seen, pitch)
                        tl.vmax_scalar(score_ub, score_ub, 0.0, count=n * pitch)
                        tl.vaxpy(weight_ub, score_ub, -1.0e5, count=n * pitch)
                    tl.row_max(part_ub, weight_ub, n, seen, pitch)
                    tl.vsub_col(weight_ub, weight_ub, part_ub, n, seen, pitch)
                    tl.vexp(weight_ub, weight_ub, count=n * pitch)
                    tl.row_sum(part_ub, weight_ub, n, seen, pitch)
                    tl.vdiv_col(weight_ub, weight_ub, part_ub, n, seen, pitch)
                with tl.copyout():
                    tl.store_rows(weights + place + line * keys, weight_ub, n, seen, keys, pitch)
        for unit in range(max(first_0 + core * own, 0), min(first_0 + (core + 1) * own, units)):
            b = unit // blocks // columns
            column = unit // blocks % columns
            kv = column // each if by_head else column
            begin = unit % blocks * high if by_head else unit % blocks
            rows = min(high, queries - begin) if by_head else each
            head = column if by_head else kv * each
            start = ((b * queries + begin) * heads + head) * size
            seen = min(keys, keys - queries + begin + (rows if by_head else 1)) if causal else keys
            place = (unit - first_0 + half_0) * room
            for col in range(0, seen, tile_n):
                cols = min(tile_n, seen - col)
                for at in range(0, size, tile_k):
                    depth = min(tile_k, size - at)
                    with tl.copyin():
                        tl.load_tile(query + start + at, left_l1, rows, depth, pitch_q)
                        tl.load_tile(
                            key + ((b * keys + col) * kv_heads + kv) * size + at,
                            key_l1,
                            cols,
                            depth,
                            pitch_kv,
                        )
                    with tl.compute():
                        tl.gemm(
                            product_l0,
                            left_l1,
                            key_l1,
                            rows,
                            cols,
                            depth,
                            init=at == 0,
                            transpose_b=True,
                        )
                with tl.copyout():
                    tl.store_tile(scores + place + col, product_l0, rows, cols, keys)
        tl.sync_all()


def grouped_attention_host(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    y: torch.Tensor,
    causal=False,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 128,
    tile: tl.constexpr = 7680,
):
    batch, queries, heads, size = query.shape
    keys, kv_heads = key.shape[1], key.shape[2]
    if query.numel() == 0:
        return
    each = heads // kv_heads
    by_head = queries >= 16 or each == 1
    assert size <= tile_n
    assert tl.pitch(keys) <= KEYS
    assert each <= tile_m
    high = min(tile_m, queries) if by_head else each
    units = batch * heads * tl.cdiv(queries, high) if by_head else batch * kv_heads * queries
    cores = tl.num_cube_cores()
    room = high * keys
    # Rounds of equal size, of at most a million scores for each core, and eight where there is enough to do.
    rounds = max(
        tl.cdiv(units, cores * max(1, 1048576 // room)),
        min(8, tl.cdiv(units * room, cores * 131072)),
    )
    own = tl.cdiv(units, cores * rounds)
    rounds = tl.cdiv(units, cores * own)
    scores = torch.empty(2 * cores * own * room, dtype=tl.float32)
    weights = torch.empty(2 * cores * own * room, dtype=query.dtype)
    grouped_attention_kernel[cores](
        query,
        key,
        value,
        y,
        scores,
        weights,
        1.0 / math.sqrt(size),
        causal,
        by_head,
        batch,
        queries,
        heads,
        size,
        keys,
        kv_heads,
        each,
        high,
        units,
        own,
        rounds,
        room,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
