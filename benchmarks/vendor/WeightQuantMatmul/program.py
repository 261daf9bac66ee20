import tile.language as tl


# y = x ((weight + offset) * scale) + bias = (x weight + sum(x) * offset) * scale + bias, so the cube can multiply the weights as they
# are: integers of 8 bits, which are exact in 16. The vector cores convert a part of the weights' rows for columns of all cores, and
# the cube multiplies the part before meanwhile; at last the vector cores scale rows of the product.
@ascend_kernel
def weight_quant_matmul_kernel(
    x,
    weight,
    scale,
    offset,
    bias,
    y,
    wide_weight,
    product,
    shifted,
    biased,
    m,
    k,
    n,
    wide,
    parts,
    high,
    turns,
    tile_m,
    tile_n,
    tile_k,
    tile,
    piece,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    x_l1 = tl.alloc_l1((tile_m, tile_k), dtype=x.dtype)
    weight_l1 = tl.alloc_l1((tile_k, tile_n), dtype=x.dtype)
    product_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    byte_ub = tl.alloc_ub(tile, dtype=tl.int8)
    half_ub = tl.alloc_ub(tile, dtype=tl.float16)
    weight_ub = tl.alloc_ub(tile, dtype=tl.float32)
    row_ub = tl.alloc_ub(piece, dtype=tl.float32)
    work_ub = tl.alloc_ub(piece, dtype=tl.float32)
    sum_ub = tl.alloc_ub(16, dtype=tl.float32)
    product_ub = tl.alloc_ub(piece, dtype=tl.float32)
    scale_ub = tl.alloc_ub(piece, dtype=tl.float32)
    offset_ub = tl.alloc_ub(piece, dtype=tl.float32)
    bias_ub = tl.alloc_ub(piece, dtype=tl.float32)
    y_ub = tl.alloc_ub(piece, dtype=tl.float32)
    across = wide * cores
    for turn in range(turns + 1):
        # The cube: what was converted the turn before.
        before = turn - 1
        col = before // parts * across + core * wide
        begin = before % parts * high
        if before >= 0 and col < n:
            cols = min(wide, n - col)
            rows = min(high, k - begin)
            for at in range(0, rows, tile_k):
                depth = min(tile_k, rows - at)
                with tl.copyin():
                    tl.load_tile(x + begin + at, x_l1, m, depth, k)
                    tl.load_tile(
                        wide_weight + (before % 2 * high + at) * across + core * wide,
                        weight_l1,
                        depth,
                        cols,
                        across,
                    )
                with tl.compute():
                    tl.gemm(product_l0, x_l1, weight_l1, m, cols, depth, init=begin + at == 0)
            if begin + high >= k:
                with tl.copyout():
                    tl.store_tile(product + col, product_l0, m, cols, n)
        # The vector core: rows of the next part.
        if turn < turns:
            left = turn // parts * across
            cols = min(across, n - left)
            top = turn % parts * high
            rows = min(high, k - top)
            for row in range(core, rows, cores):
                for at in range(0, cols, tile):
                    count = min(tile, cols - at)
                    with tl.copyin():
                        tl.load(weight + (top + row) * n + left + at, byte_ub, count=count)
                    with tl.compute():
                        tl.cast(half_ub, byte_ub, count=count)
                        tl.cast(weight_ub, half_ub, count=count)
                    with tl.copyout():
                        tl.store(
                            wide_weight + (turn % 2 * high + row) * across + at,
                            weight_ub,
                            count=count,
                        )
        tl.sync_all()
    pieces = tl.cdiv(n, piece)
    for unit in range(core, m * pieces, cores):
        line = unit // pieces
        col = unit % pieces * piece
        count = min(piece, n - col)
        total = 0.0
        if shifted:
            for at in range(0, k, piece):
                some = min(piece, k - at)
                with tl.copyin():
                    tl.load(x + line * k + at, row_ub, count=some)
                with tl.compute():
                    tl.reduce_sum(sum_ub, row_ub, work_ub, count=some)
                    total = total + tl.extract_scalar(sum_ub, 0)
            with tl.copyin():
                tl.load(offset + col, offset_ub, count=count)
        with tl.copyin():
            tl.load(product + line * n + col, product_ub, count=count)
            tl.load(scale + col, scale_ub, count=count)
        with tl.compute():
            tl.vadd_scalar(y_ub, product_ub, 0.0, count=count)
            if shifted:
                tl.vaxpy(y_ub, offset_ub, total, count=count)
            tl.vmul(y_ub, y_ub, scale_ub, count=count)
        if biased:
            with tl.copyin():
                tl.load(bias + col, bias_ub, count=count)
            with tl.compute():
                tl.vadd(y_ub, y_ub, bias_ub, count=count)
        with tl.copyout():
            tl.store(y + line * n + col, y_ub, count=count)


def weight_quant_matmul_host(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor = None,
    bias: torch.Tensor = None,
    y: torch.Tensor = None,
    tile_m: tl.constexpr = 96,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 256,
    tile: tl.constexpr = 6144,
    piece: tl.constexpr = 1024,
):
    m, k = x.shape
    n = weight.shape[1]
    if m * n * k == 0:
        return
    assert m <= tile_m
    cores = tl.num_cube_cores()
    # Blocks of columns of one size, a multiple of 32, of which each core has one at a time.
    blocks = tl.cdiv(n, tile_n * cores) * cores
    wide = tl.cdiv(tl.cdiv(n, blocks), 32) * 32
    rounds = tl.cdiv(n, wide * cores)
    parts = max(1, tl.cdiv(k, 1024))
    high = tl.cdiv(tl.cdiv(k, parts), 16) * 16
    parts = tl.cdiv(k, high)
    wide_weight = torch.empty(2 * high * wide * cores, dtype=x.dtype)
    product = torch.empty(m * n, dtype=tl.float32)
    weight_quant_matmul_kernel[cores](
        x,
        weight,
        scale,
        offset,
        bias,
        y,
        wide_weight,
        product,
        offset is not None,
        bias is not None,
        m,
        k,
        n,
        wide,
        parts,
        high,
        rounds * parts,
        tile_m,
        tile_n,
        tile_k,
        tile,
        piece,
    )
