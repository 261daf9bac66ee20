import tile.language as tl


# C = alpha A B + beta C for each product, in place. The blocks of all products go to the cube cores in turn (`turn` counts those
# of the products before) and leave sums in the workspace, which lie as c does; then the vector cores put them together with
# pieces of c, which go round in the same way.
@ascend_kernel
def group_gemm_kernel(
    a,
    b,
    c,
    alpha,
    beta,
    product,
    m_list,
    k_list,
    n_list,
    groups,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    product_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    a_at = 0
    b_at = 0
    c_at = 0
    turn = 0
    for g in range(groups):
        m = m_list[g]
        k = k_list[g]
        n = n_list[g]
        across = tl.cdiv(n, tile_n)
        blocks = tl.cdiv(m, tile_m) * across
        for block in range((core + cores - turn) % cores, blocks, cores):
            row = block // across * tile_m
            col = block % across * tile_n
            rows = min(tile_m, m - row)
            cols = min(tile_n, n - col)
            for at in range(0, k, tile_k):
                depth = min(tile_k, k - at)
                with tl.copyin():
                    tl.load_tile(a + a_at + row * k + at, a_l1, rows, depth, k)
                    tl.load_tile(b + b_at + at * n + col, b_l1, depth, cols, n)
                with tl.compute():
                    tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0)
            with tl.copyout():
                tl.store_tile(product + c_at + row * n + col, c_l0, rows, cols, n)
        turn = (turn + blocks) % cores
        a_at += m * k
        b_at += k * n
        c_at += m * n
    tl.sync_all()
    c_at = 0
    turn = 0
    for g in range(groups):
        size = m_list[g] * n_list[g]
        by = tl.extract_scalar(alpha, g)
        keep = tl.extract_scalar(beta, g)
        for first in range((core + cores - turn) % cores * tile, size, cores * tile):
            count = min(tile, size - first)
            with tl.copyin():
                tl.load(product + c_at + first, product_ub, count=count)
                tl.load(c + c_at + first, c_ub, count=count)
            with tl.compute():
                tl.vmul_scalar(sum_ub, product_ub, by, count=count)
                tl.vmul_scalar(c_ub, c_ub, keep, count=count)
                tl.vadd(sum_ub, sum_ub, c_ub, count=count)
            with tl.copyout():
                tl.store(c + c_at + first, sum_ub, count=count)
        turn = (turn + tl.cdiv(size, tile)) % cores
        c_at += size


def group_gemm_host(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    alpha: torch.Tensor,
    beta: torch.Tensor,
    mList: list,
    kList: list,
    nList: list,
    tile_m: tl.constexpr = 64,
    tile_n: tl.constexpr = 512,
    tile_k: tl.constexpr = 192,
    tile: tl.constexpr = 4096,
):
    if c.numel() * a.numel() == 0:
        return
    product = torch.empty(c.numel(), dtype=tl.float32)
    group_gemm_kernel[tl.num_cube_cores()](
        a,
        b,
        c,
        alpha,
        beta,
        product,
        mList,
        kList,
        nList,
        len(mList),
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
