import tile.language as tl


# softmax(scale query key^T) value. A block of a core is some rows of the queries of a batch: the cube multiplies them by all
# keys, the vector core makes weights of the products, and the cube multiplies these by the values. What is in between lies in the
# workspace, which has a place for each core; all cores take the steps together.
@ascend_kernel
def flash_attention_score_with_large_head_dim_kernel(
    query,
    key,
    value,
    out,
    scores,
    weights,
    scale,
    batch,
    length,
    width,
    high,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    left_l1 = tl.alloc_l1((tile_m, tile_k), dtype=query.dtype)
    key_l1 = tl.alloc_l1((tile_n, tile_k), dtype=key.dtype)
    value_l1 = tl.alloc_l1((tile_k, tile_n), dtype=value.dtype)
    product_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    score_ub = tl.alloc_ub(tile, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    per_batch = tl.cdiv(length, high)
    blocks = batch * per_batch
    place = core * high * length
    piece = min(length, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    for first in range(0, blocks, cores):
        block = first + core
        row = block % per_batch * high
        rows = 0
        if block < blocks:
            rows = min(high, length - row)
        keys = block // per_batch * length * width
        start = keys + row * width
        if rows > 0:
            for col in range(0, length, tile_n):
                cols = min(tile_n, length - col)
                for at in range(0, width, tile_k):
                    depth = min(tile_k, width - at)
                    with tl.copyin():
                        tl.load_tile(query + start + at, left_l1, rows, depth, width)
                        tl.load_tile(key + keys + col * width + at, key_l1, cols, depth, width)
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
                    tl.store_tile(scores + place + col, product_l0, rows, cols, length)
        tl.sync_all()
        if piece == length:
            for line in range(0, rows, step):
                n = min(step, rows - line)
                with tl.copyin():
                    tl.load_rows(
                        scores + place + line * length,
                        score_ub,
                        n,
                        length,
                        length,
                        pitch,
                    )
                with tl.compute():
                    tl.vmul_scalar(score_ub, score_ub, scale, count=n * pitch)
                    tl.row_max(part_ub, score_ub, n, length, pitch)
                    tl.vsub_col(weight_ub, score_ub, part_ub, n, length, pitch)
                    tl.vexp(weight_ub, weight_ub, count=n * pitch)
                    tl.row_sum(part_ub, weight_ub, n, length, pitch)
                    tl.vdiv_col(weight_ub, weight_ub, part_ub, n, length, pitch)
                with tl.copyout():
                    tl.store_rows(
                        weights + place + line * length,
                        weight_ub,
                        n,
                        length,
                        length,
                        pitch,
                    )
        else:
            for line in range(rows):
                begin = place + line * length
                largest = -3.0e38
                sum = 0.0
                for at in range(begin, begin + length, piece):
                    n = min(piece, begin + length - at)
                    with tl.copyin():
                        tl.load(scores + at, score_ub, count=n)
                    with tl.compute():
                        tl.vmul_scalar(score_ub, score_ub, scale, count=n)
                        tl.reduce_max(part_ub, score_ub, work_ub, count=n)
                        before = largest
                        largest = tl.max(largest, tl.extract_scalar(part_ub, 0))
                        tl.vsub_scalar(score_ub, score_ub, largest, count=n)
                        tl.vexp(score_ub, score_ub, count=n)
                        tl.reduce_sum(part_ub, score_ub, work_ub, count=n)
                        sum = sum * tl.exp(before - largest) + tl.extract_scalar(part_ub, 0)
                for at in range(begin, begin + length, piece):
                    n = min(piece, begin + length - at)
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
            for col in range(0, width, tile_n):
                cols = min(tile_n, width - col)
                for at in range(0, length, tile_k):
                    depth = min(tile_k, length - at)
                    with tl.copyin():
                        tl.load_tile(weights + place + at, left_l1, rows, depth, length)
                        tl.load_tile(
                            value + keys + at * width + col,
                            value_l1,
                            depth,
                            cols,
                            width,
                        )
                    with tl.compute():
                        tl.gemm(product_l0, left_l1, value_l1, rows, cols, depth, init=at == 0)
                with tl.copyout():
                    tl.store_tile(out + start + col, product_l0, rows, cols, width)


def flash_attention_score_with_large_head_dim_host(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    softmax_max: torch.Tensor,
    softmax_sum: torch.Tensor,
    attention_out: torch.Tensor,
    scale_value: float = 1.0,
    head_num: int = 1,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 192,
    tile: tl.constexpr = 6144,
):
    batch, length, width = query.shape
    if batch * length * width == 0:
        return
    cores = tl.num_cube_cores()
    high = min(tile_m, tl.pitch(tl.cdiv(batch * length, cores)))
    scores = torch.empty(cores * high * length, dtype=tl.float32)
    weights = torch.empty(cores * high * length, dtype=query.dtype)
    flash_attention_score_with_large_head_dim_kernel[cores](
        query,
        key,
        value,
        attention_out,
        scores,
        weights,
        scale_value,
        batch,
        length,
        width,
        high,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
