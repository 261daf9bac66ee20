import tile.language as tl


# Rows of group g are rows of a times b[g], scaled. The blocks of all groups go to the cube cores in turn (`turn` counts those of
# the groups before) and leave the product, int32, in the workspace; then the vector cores scale rows of it.
@ascend_kernel
def grouped_matmul_slice_m_per_token_dequant_kernel(
    a,
    b,
    scale,
    per_token_scale,
    ends,
    c,
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
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.int32)
    product_ub = tl.alloc_ub(tile, dtype=tl.int32)
    scale_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
                    tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                    tl.load_tile(b + (g * k + at) * n + col, b_l1, depth, cols, n)
                with tl.compute():
                    tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
            with tl.copyout():
                tl.store_tile(product + row * n + col, c_l0, rows, cols, n)
        turn = (turn + blocks) % cores
        begin = end
    tl.sync_all()
    begin = 0
    for g in range(groups):
        end = int(tl.extract_scalar(ends, g))
        for line in range(begin + (core + cores - begin % cores) % cores, end, cores):
            factor = tl.extract_scalar(per_token_scale, line)
            for first in range(0, n, tile):
                offsets = first + tl.arange(0, tile)
                with tl.copyin():
                    tl.load(product + line * n + offsets, product_ub, mask=offsets < n)
                    tl.load(scale + g * n + offsets, scale_ub, mask=offsets < n)
                with tl.compute():
                    tl.cast(c_ub, product_ub)
                    tl.vmul(c_ub, c_ub, scale_ub)
                    tl.vmul_scalar(c_ub, c_ub, factor)
                with tl.copyout():
                    tl.store(c + line * n + offsets, c_ub, mask=offsets < n)
        begin = end


def grouped_matmul_slice_m_per_token_dequant_host(
    a: torch.Tensor,
    b: torch.Tensor,
    scale: torch.Tensor,
    per_token_scale: torch.Tensor,
    groupList: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 64,
    tile_n: tl.constexpr = 384,
    tile_k: tl.constexpr = 192,
    tile: tl.constexpr = 4096,
):
    m, k = a.shape
    groups = groupList.shape[0]
    n = b.shape[2]
    if m * n * k == 0:
        return
    product = torch.empty(m * n, dtype=tl.int32)
    grouped_matmul_slice_m_per_token_dequant_kernel[tl.num_cube_cores()](
        a,
        b,
        scale,
        per_token_scale,
        groupList,
        c,
        product,
        groups,
        n,
        k,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
