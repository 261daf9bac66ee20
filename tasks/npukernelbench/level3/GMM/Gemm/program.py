import tile.language as tl


# c = alpha a b + beta c, in place. The cube cores leave the product in the workspace; then the vector cores put it together
# with pieces of c.
@ascend_kernel
def gemm_kernel(a, b, c, product, alpha, beta, m, n, k, high, wide, tile_m, tile_n, tile_k, tile):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    product_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
            tl.vmul_scalar(sum_ub, product_ub, alpha)
            tl.vmul_scalar(c_ub, c_ub, beta)
            tl.vadd(sum_ub, sum_ub, c_ub)
        with tl.copyout():
            tl.store(c + offsets, sum_ub, mask=offsets < m * n)


def gemm_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    alpha: float,
    beta: float,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 192,
    tile_k: tl.constexpr = 64,
    tile: tl.constexpr = 2048,
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
    gemm_kernel[cores](
        a,
        b,
        c,
        product,
        alpha,
        beta,
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
