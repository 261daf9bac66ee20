import tile.language as tl


# Rows of group g are rows of x times weight[g], times scales of the column and the row: o = silu(left half) * right half, scale =
# max|o| / 127, y = round(o / scale). The blocks of all groups go to the cube cores in turn (`turn` counts those of the groups before)
# and leave the product, int32, in the workspace; then the vector cores take rows of it.
@ascend_kernel
def grouped_swiglu_quant_kernel(
    x,
    weight,
    scale,
    row_scale,
    ends,
    y,
    out_scale,
    product,
    groups,
    n,
    k,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    half = n // 2
    x_l1 = tl.alloc_l1((tile_m, tile_k), dtype=x.dtype)
    weight_l1 = tl.alloc_l1((tile_k, tile_n), dtype=x.dtype)
    product_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.int32)
    gate_in_ub = tl.alloc_ub(tile, dtype=tl.int32)
    rest_in_ub = tl.alloc_ub(tile, dtype=tl.int32)
    gate_scale_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rest_scale_ub = tl.alloc_ub(tile, dtype=tl.float32)
    gate_ub = tl.alloc_ub(tile, dtype=tl.float32)
    rest_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.int8)
    part_ub = tl.alloc_ub(16, dtype=tl.float32)
    scale_ub = tl.alloc_ub(16, dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    begin = 0
    turn = 0
    for g in range(groups):
        end = int(tl.extract_scalar(ends, g))
        blocks = tl.cdiv(end - begin, tile_m) * across
        for block in range((core + cores - turn) % cores, blocks, cores):
            row = begin + block // across * tile_m
            col = block % across * tile_n
            rows = min(tile_m, end - row)
            cols = min(tile_n, n - col)
            for at in range(0, k, tile_k):
                depth = min(tile_k, k - at)
                with tl.copyin():
                    tl.load_tile(x + row * k + at, x_l1, rows, depth, k)
                    tl.load_tile(weight + (g * k + at) * n + col, weight_l1, depth, cols, n)
                with tl.compute():
                    tl.gemm(product_l0, x_l1, weight_l1, rows, cols, depth, init=at == 0)
            with tl.copyout():
                tl.store_tile(product + row * n + col, product_l0, rows, cols, n)
        turn = (turn + blocks) % cores
        begin = end
    tl.sync_all()
    begin = 0
    for g in range(groups):
        end = int(tl.extract_scalar(ends, g))
        if begin < end:
            with tl.copyin():
                tl.load(scale + g * n, gate_scale_ub, count=half)
                tl.load(scale + g * n + half, rest_scale_ub, count=half)
        for line in range(begin + (core + cores - begin % cores) % cores, end, cores):
            factor = tl.extract_scalar(row_scale, line)
            with tl.copyin():
                tl.load(product + line * n, gate_in_ub, count=half)
                tl.load(product + line * n + half, rest_in_ub, count=half)
            with tl.compute():
                tl.cast(gate_ub, gate_in_ub, count=half)
                tl.cast(rest_ub, rest_in_ub, count=half)
                tl.vmul(gate_ub, gate_ub, gate_scale_ub, count=half)
                tl.vmul_scalar(gate_ub, gate_ub, factor, count=half)
                tl.vmul(rest_ub, rest_ub, rest_scale_ub, count=half)
                tl.vmul_scalar(rest_ub, rest_ub, factor, count=half)
                tl.vmul(rest_ub, rest_ub, gate_ub, count=half)
                tl.vmul_scalar(gate_ub, gate_ub, -1.0, count=half)
                tl.vexp(gate_ub, gate_ub, count=half)
                tl.vadd_scalar(gate_ub, gate_ub, 1.0, count=half)
                tl.vdiv(rest_ub, rest_ub, gate_ub, count=half)
                tl.vabs(gate_ub, rest_ub, count=half)
                tl.row_max(part_ub, gate_ub, 1, half, tl.pitch(half))
                tl.vmul_scalar(scale_ub, part_ub, 1.0 / 127.0, count=1)
                tl.vmul_scalar(gate_ub, rest_ub, 127.0 / tl.extract_scalar(part_ub, 0), count=half)
                tl.cast(y_ub, gate_ub, count=half)
            with tl.copyout():
                tl.store(y + line * half, y_ub, count=half)
                tl.store(out_scale + line, scale_ub, count=1)
        begin = end


def grouped_swiglu_quant_host(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    row_scale: torch.Tensor,
    ends: torch.Tensor,
    y: torch.Tensor,
    out_scale: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 256,
    tile: tl.constexpr = 2048,
):
    m, k = x.shape
    groups = ends.shape[0]
    n = weight.shape[2]
    if m * n * k == 0:
        return
    assert n // 2 <= tile
    product = torch.empty(m * n, dtype=tl.int32)
    grouped_swiglu_quant_kernel[tl.num_cube_cores()](
        x,
        weight,
        scale,
        row_scale,
        ends,
        y,
        out_scale,
        product,
        groups,
        n,
        k,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
