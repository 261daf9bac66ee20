import tile.language as tl


# d = a b + c. The cube cores leave the product in the workspace; then the vector cores add c to pieces of it.
@ascend_kernel
def matmul_add_kernel(a, b, c, d, product, m, n, k, high, wide, tile_m, tile_n, tile_k, tile):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    product_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    d_ub = tl.alloc_ub(tile, dtype=tl.float32)
    across = tl.cdiv(n, wide)
    for block in range(core, tl.cdiv(m, high) * across, cores):
        row = block // across * high
        col = block % across * wide
        rows = min(high, m - row)
        cols = min(wide, n - col)
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
        with tl.copyout():
            tl.store_tile(product + row * n + col, c_l0, rows, cols, n)
    tl.sync_all()
    for first in range(core * tile, m * n, cores * tile):
        offsets = first + tl.arange(0, tile)
        with tl.copyin():
            tl.load(product + offsets, product_ub, mask=offsets < m * n)
            tl.load(c + offsets, c_ub, mask=offsets < m * n)
        with tl.compute():
            tl.vadd(d_ub, product_ub, c_ub)
        with tl.copyout():
            tl.store(d + offsets, d_ub, mask=offsets < m * n)


def matmul_add_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    d: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 128,
    tile: tl.constexpr = 4096,
):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    cores = tl.num_cube_cores()
    # Blocks are smaller where there would be fewer than cores.
    wide = min(tile_n, max(64, tl.pitch(tl.cdiv(n, max(1, cores // tl.cdiv(m, tile_m))))))
    high = min(tile_m, max(64, tl.pitch(tl.cdiv(m, max(1, cores // tl.cdiv(n, wide))))))
    product = torch.empty(m * n, dtype=tl.float32)
    matmul_add_kernel[cores](
        a,
        b,
        c,
        d,
        product,
        m,
        n,
        k,
        high,
        wide,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
