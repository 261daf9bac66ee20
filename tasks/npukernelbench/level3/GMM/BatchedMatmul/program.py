import tile.language as tl


# c[i] = a[i] b[i]. Blocks of all products go to the cores in turn; each sums up its products over k in L0C.
@ascend_kernel
def batched_matmul_kernel(a, b, c, batch, m, n, k, high, wide, tile_m, tile_n, tile_k):
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    across = tl.cdiv(n, wide)
    blocks = tl.cdiv(m, high) * across
    for block in range(tl.program_id(0), batch * blocks, tl.num_programs(0)):
        i = block // blocks
        row = block % blocks // across * high
        col = block % blocks % across * wide
        rows = min(high, m - row)
        cols = min(wide, n - col)
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + (i * m + row) * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + (i * k + at) * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
        with tl.copyout():
            tl.store_tile(c + (i * m + row) * n + col, c_l0, rows, cols, n)


def batched_matmul_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 192,
    tile_k: tl.constexpr = 128,
):
    batch, m, k = a.shape
    n = b.shape[2]
    if batch * m * n * k == 0:
        return
    cores = tl.num_cube_cores()
    # Blocks are smaller where there would be fewer than cores.
    wide = min(
        tile_n,
        max(64, tl.pitch(tl.cdiv(n, max(1, cores // (batch * tl.cdiv(m, tile_m)))))),
    )
    high = min(tile_m, max(64, tl.pitch(tl.cdiv(m, max(1, cores // (batch * tl.cdiv(n, wide)))))))
    cores = min(cores, batch * tl.cdiv(m, high) * tl.cdiv(n, wide))
    batched_matmul_kernel[cores](a, b, c, batch, m, n, k, high, wide, tile_m, tile_n, tile_k)
