import tile.language as tl


# d = (a b) * scale * per_token_scale. The cube cores leave the product, int32, in the workspace; then the vector cores scale
# rows of it.
@ascend_kernel
def quant_matmul_kernel(
    a,
    b,
    scale,
    per_token_scale,
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
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.int32)
    product_ub = tl.alloc_ub(tile, dtype=tl.int32)
    scale_ub = tl.alloc_ub(tile, dtype=tl.float32)
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
    for line in range(core, m, cores):
        factor = tl.extract_scalar(per_token_scale, line)
        for first in range(0, n, tile):
            offsets = first + tl.arange(0, tile)
            with tl.copyin():
                tl.load(product + line * n + offsets, product_ub, mask=offsets < n)
                tl.load(scale + offsets, scale_ub, mask=offsets < n)
            with tl.compute():
                tl.cast(d_ub, product_ub)
                tl.vmul(d_ub, d_ub, scale_ub)
                tl.vmul_scalar(d_ub, d_ub, factor)
            with tl.copyout():
                tl.store(d + line * n + offsets, d_ub, mask=offsets < n)


def quant_matmul_host(
    a: torch.Tensor,
    b: torch.Tensor,
    scale: torch.Tensor,
    per_token_scale: torch.Tensor,
    d: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 256,
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
    product = torch.empty(m * n, dtype=tl.int32)
    quant_matmul_kernel[cores](
        a,
        b,
        scale,
        per_token_scale,
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
