import tile.language as tl


# c = a b. Blocks of c go to the cores in turn; each sums up its products over k in L0C.
@ascend_kernel
def basic_matmul_kernel(a, b, c, m, n, k, tile_m, tile_n, tile_k):
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    for block in range(tl.program_id(0), tl.cdiv(m, tile_m) * across, tl.num_programs(0)):
        row = block // across * tile_m
        col = block % across * tile_n
        rows = min(tile_m, m - row)
        cols = min(tile_n, n - col)
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
        with tl.copyout():
            tl.store_tile(c + row * n + col, c_l0, rows, cols, n)


def basic_matmul_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 64,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 128,
):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    blocks = tl.cdiv(m, tile_m) * tl.cdiv(n, tile_n)
    cores = min(tl.num_cube_cores(), blocks)
    basic_matmul_kernel[cores](a, b, c, m, n, k, tile_m, tile_n, tile_k)
