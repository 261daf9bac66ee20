import tile.language as tl


# Rows of group g are rows of a times b[g]. The blocks of all groups go to the cores in turn: `turn` counts those of the groups
# before.
@ascend_kernel
def grouped_matmul_slice_m_kernel(a, b, ends, c, groups, n, k, tile_m, tile_n, tile_k):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
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
                tl.store_tile(c + row * n + col, c_l0, rows, cols, n)
        turn = (turn + blocks) % cores
        begin = end


def grouped_matmul_slice_m_host(
    a: torch.Tensor,
    b: torch.Tensor,
    groupList: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 128,
):
    m, k = a.shape
    groups = groupList.shape[0]
    n = b.shape[2]
    if m * n * k == 0:
        return
    grouped_matmul_slice_m_kernel[tl.num_cube_cores()](
        a,
        b,
        groupList,
        c,
        groups,
        n,
        k,
        tile_m,
        tile_n,
        tile_k,
    )
