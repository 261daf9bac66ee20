import tile.language as tl


# c = a b. There may be fewer blocks of c than cores: then k is cut into parts, a block of each part is a task of its own,
# and the vector cores add the parts up.
@ascend_kernel
def splitk_matmul_kernel(a, b, c, parts, m, n, k, part_k, part_count, tile_m, tile_n, tile_k, tile):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    blocks = tl.cdiv(m, tile_m) * across
    for task in range(core, blocks * part_count, cores):
        part = task // blocks
        row = task % blocks // across * tile_m
        col = task % across * tile_n
        rows = min(tile_m, m - row)
        cols = min(tile_n, n - col)
        first = part * part_k
        for at in range(first, min(first + part_k, k), tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == first)
        with tl.copyout():
            tl.store_tile(parts + part * m * n + row * n + col, c_l0, rows, cols, n)
    tl.sync_all()
    for at in range(core * tile, m * n, cores * tile):
        count = min(tile, m * n - at)
        with tl.compute():
            tl.duplicate(sum_ub, 0.0, count=count)
        for part in range(part_count):
            with tl.copyin():
                tl.load(parts + part * m * n + at, part_ub, count=count)
            with tl.compute():
                tl.vadd(sum_ub, sum_ub, part_ub, count=count)
        with tl.copyout():
            tl.store(c + at, sum_ub, count=count)


def splitk_matmul_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 192,
    tile_k: tl.constexpr = 64,
    tile: tl.constexpr = 3072,
):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    cores = tl.num_cube_cores()
    blocks = tl.cdiv(m, tile_m) * tl.cdiv(n, tile_n)
    # parts of 24 cores, on any chip: which sums are added up is the same for any number of cores
    part_k = tl.cdiv(tl.cdiv(k, max(1, 24 // blocks)), tile_k) * tile_k
    part_count = tl.cdiv(k, part_k)
    parts = torch.empty(part_count * m * n, dtype=tl.float32)
    splitk_matmul_kernel[cores](
        a,
        b,
        c,
        parts,
        m,
        n,
        k,
        part_k,
        part_count,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
