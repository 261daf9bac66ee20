import tile.language as tl


# Part g of c is the product of a slice of k; a lies transposed in memory. c is zero before: nothing is stored for an empty slice.
# Blocks of all parts go to the cores in turn.
@ascend_kernel
def grouped_matmul_slice_k_kernel(a, b, ends, c, groups, m, n, tile_m, tile_n, tile_k):
    a_l1 = tl.alloc_l1((tile_k, tile_m), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    blocks = tl.cdiv(m, tile_m) * across
    for block in range(tl.program_id(0), groups * blocks, tl.num_programs(0)):
        g = block // blocks
        row = block % blocks // across * tile_m
        col = block % blocks % across * tile_n
        rows = min(tile_m, m - row)
        cols = min(tile_n, n - col)
        begin = 0
        if g > 0:
            begin = int(tl.extract_scalar(ends, g - 1))
        end = int(tl.extract_scalar(ends, g))
        if begin < end:
            for at in range(begin, end, tile_k):
                depth = min(tile_k, end - at)
                with tl.copyin():
                    tl.load_tile(a + at * m + row, a_l1, depth, rows, m)
                    tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
                with tl.compute():
                    tl.gemm(
                        c_l0,
                        a_l1,
                        b_l1,
                        rows,
                        cols,
                        depth,
                        init=at == begin,
                        transpose_a=True,
                    )
            with tl.copyout():
                tl.store_tile(c + (g * m + row) * n + col, c_l0, rows, cols, n)


def grouped_matmul_slice_k_host(
    a: torch.Tensor,
    b: torch.Tensor,
    groupList: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 64,
):
    m = a.shape[0]
    n = b.shape[1]
    groups = groupList.shape[0]
    if m * n * groups == 0:
        return
    blocks = groups * tl.cdiv(m, tile_m) * tl.cdiv(n, tile_n)
    cores = min(tl.num_cube_cores(), blocks)
    grouped_matmul_slice_k_kernel[cores](a, b, groupList, c, groups, m, n, tile_m, tile_n, tile_k)
