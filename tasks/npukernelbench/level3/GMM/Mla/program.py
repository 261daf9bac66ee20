import tile.language as tl


# softmax(queries keys^T / sqrt(d)) values, of each token and cache head: the heads that share a cache head are the rows of a
# matrix, cut into blocks. The cube multiplies a block by all keys of its sequence, those of a cache block at once, the vector core
# makes weights of the products, and the cube multiplies these by the values. What is in between lies in the workspace, which has a
# place for each core; all cores take the steps together.
@ascend_kernel
def mla_kernel(
    query,
    query_rope,
    cache,
    cache_rope,
    tables,
    out,
    scores,
    weights,
    q_list,
    k_list,
    scale,
    tokens,
    heads,
    kv_heads,
    size,
    rope,
    table,
    block_size,
    most_keys,
    high,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    left_l1 = tl.alloc_l1((tile_m, tile_k), dtype=query.dtype)
    key_l1 = tl.alloc_l1((tile_k, tile_k), dtype=query.dtype)
    value_l1 = tl.alloc_l1((tile_k, tile_n), dtype=query.dtype)
    product_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    score_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    group = heads // kv_heads
    per_group = tl.cdiv(group, high)
    units = tokens * kv_heads * per_group
    place = core * high * most_keys
    for first in range(0, units, cores):
        unit = first + core
        token = unit // per_group // kv_heads
        kv = unit // per_group % kv_heads
        row = unit % per_group * high
        start = token * heads + kv * group + row
        rows = 0
        if unit < units:
            rows = min(high, group - row)
        sequence = 0
        before = 0
        for i in range(len(q_list)):
            if token >= before:
                sequence = i
            before += q_list[i]
        keys = k_list[sequence]
        if rows > 0:
            for col in range(0, keys, block_size):
                cols = min(block_size, keys - col)
                block = int(tl.extract_scalar(tables, sequence * table + col // block_size))
                line = block * block_size * kv_heads + kv
                for at in range(0, size, tile_k):
                    depth = min(tile_k, size - at)
                    with tl.copyin():
                        tl.load_tile(query + start * size + at, left_l1, rows, depth, size)
                        tl.load_tile(
                            cache + line * size + at,
                            key_l1,
                            cols,
                            depth,
                            kv_heads * size,
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
                for at in range(0, rope, tile_k):
                    depth = min(tile_k, rope - at)
                    with tl.copyin():
                        tl.load_tile(query_rope + start * rope + at, left_l1, rows, depth, rope)
                        tl.load_tile(
                            cache_rope + line * rope + at,
                            key_l1,
                            cols,
                            depth,
                            kv_heads * rope,
                        )
                    with tl.compute():
                        tl.gemm(product_l0, left_l1, key_l1, rows, cols, depth, transpose_b=True)
                with tl.copyout():
                    tl.store_tile(scores + place + col, product_l0, rows, cols, most_keys)
        tl.sync_all()
        if keys <= tile:
            pitch = tl.pitch(keys)
            step = tile // pitch
            for line in range(0, rows, step):
                n = min(step, rows - line)
                with tl.copyin():
                    tl.load_rows(
                        scores + place + line * most_keys,
                        score_ub,
                        n,
                        keys,
                        most_keys,
                        pitch,
                    )
                with tl.compute():
                    tl.vmul_scalar(score_ub, score_ub, scale, count=n * pitch)
                    tl.row_max(part_ub, score_ub, n, keys, pitch)
                    tl.vsub_col(weight_ub, score_ub, part_ub, n, keys, pitch)
                    tl.vexp(weight_ub, weight_ub, count=n * pitch)
                    tl.row_sum(part_ub, weight_ub, n, keys, pitch)
                    tl.vdiv_col(weight_ub, weight_ub, part_ub, n, keys, pitch)
                with tl.copyout():
                    tl.store_rows(
                        weights + place + line * most_keys,
                        weight_ub,
                        n,
                        keys,
                        most_keys,
                        pitch,
                    )
        else:
            for line in range(rows):
                begin = place + line * most_keys
                largest = -3.0e38
                sum = 0.0
                for at in range(begin, begin + keys, tile):
                    n = min(tile, begin + keys - at)
                    with tl.copyin():
                        tl.load(scores + at, score_ub, count=n)
                    with tl.compute():
                        tl.vmul_scalar(score_ub, score_ub, scale, count=n)
                        tl.reduce_max(part_ub, score_ub, work_ub, count=n)
                        earlier = largest
                        largest = tl.max(largest, tl.extract_scalar(part_ub, 0))
                        tl.vsub_scalar(score_ub, score_ub, largest, count=n)
                        tl.vexp(score_ub, score_ub, count=n)
                        tl.reduce_sum(part_ub, score_ub, work_ub, count=n)
                        sum = sum * tl.exp(earlier - largest) + tl.extract_scalar(part_ub, 0)
                for at in range(begin, begin + keys, tile):
                    n = min(tile, begin + keys - at)
                    with tl.copyin():
                        tl.load(scores + at, score_ub, count=n)
                    with tl.compute():
                        tl.vmul_scalar(weight_ub, score_ub, scale, count=n)
                        tl.vsub_scalar(weight_ub, weight_ub, largest, count=n)
                        tl.vexp(weight_ub, weight_ub, count=n)
                        tl.vdiv_scalar(weight_ub, weight_ub, sum, count=n)
                    with tl.copyout():
                        tl.store(weights + at, weight_ub, count=n)
        tl.sync_all()
        if rows > 0:
            for col in range(0, size, tile_n):
                cols = min(tile_n, size - col)
                for at in range(0, keys, block_size):
                    depth = min(block_size, keys - at)
                    block = int(tl.extract_scalar(tables, sequence * table + at // block_size))
                    line = block * block_size * kv_heads + kv
                    with tl.copyin():
                        tl.load_tile(weights + place + at, left_l1, rows, depth, most_keys)
                        tl.load_tile(
                            cache + line * size + col,
                            value_l1,
                            depth,
                            cols,
                            kv_heads * size,
                        )
                    with tl.compute():
                        tl.gemm(product_l0, left_l1, value_l1, rows, cols, depth, init=at == 0)
                with tl.copyout():
                    tl.store_tile(out + start * size + col, product_l0, rows, cols, size)


def mla_host(
    query_nope: torch.Tensor,
    query_rope: torch.Tensor,
    kv_nope_cache: torch.Tensor,
    kv_rope_cache: torch.Tensor,
    block_tables: torch.Tensor,
    out: torch.Tensor,
    q_seqlen_list: list,
    k_seqlen_list: list,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 128,
    tile: tl.constexpr = 4096,
):
    tokens, heads, size = query_nope.shape
    rope = query_rope.shape[2]
    block_size = kv_nope_cache.shape[1]
    kv_heads = kv_nope_cache.shape[2]
    if tokens * heads * size == 0:
        return
    assert block_size <= tile_k
    table = block_tables.shape[1]
    most_keys = table * block_size
    cores = tl.num_cube_cores()
    high = min(tile_m, tl.pitch(tl.cdiv(tokens * heads, cores)))
    scores = torch.empty(cores * high * most_keys, dtype=tl.float32)
    weights = torch.empty(cores * high * most_keys, dtype=query_nope.dtype)
    mla_kernel[cores](
        query_nope,
        query_rope,
        kv_nope_cache,
        kv_rope_cache,
        block_tables,
        out,
        scores,
        weights,
        q_seqlen_list,
        k_seqlen_list,
        1.0 / math.sqrt(size + rope),
        tokens,
        heads,
        kv_heads,
        size,
        rope,
        table,
        block_size,
        most_keys,
        high,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
