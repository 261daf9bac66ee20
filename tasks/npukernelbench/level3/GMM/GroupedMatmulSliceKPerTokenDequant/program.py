import tile.language as tl


# Part g of c is the product of a slice of k, scaled; a lies transposed in memory. c is zero before: nothing is stored for an
# empty slice. Blocks of all parts go to the cube cores in turn and leave the product, int32, in the workspace; then the vector
# cores scale rows of it.
@ascend_kernel
def grouped_matmul_slice_k_per_token_dequant_kernel(
    a,
    b,
    scale,
    per_token_scale,
    ends,
    c,
    product,
    groups,
    m,
    n,
    tile_m,
    tile_n,
    tile_k,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1((tile_k, tile_m), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.int32)
    product_ub = tl.alloc_ub(tile, dtype=tl.int32)
    scale_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    across = tl.cdiv(n, tile_n)
    blocks = tl.cdiv(m, tile_m) * across
    for block in range(core, groups * blocks, cores):
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
                tl.store_tile(product + (g * m + row) * n + col, c_l0, rows, cols, n)
    tl.sync_all()
    begin = 0
    for g in range(groups):
        end = int(tl.extract_scalar(ends, g))
        if begin < end:
            for line in range((core + cores - g * m % cores) % cores, m, cores):
                factor = tl.extract_scalar(per_token_scale, g * m + line)
                for first in range(0, n, tile):
                    offsets = first + tl.arange(0, tile)
                    with tl.copyin():
                        tl.load(
                            product + (g * m + line) * n + offsets,
                            product_ub,
                            mask=offsets < n,
                        )
                        tl.load(scale + g * n + offsets, scale_ub, mask=offsets < n)
                    with tl.compute():
                        tl.cast(c_ub, product_ub)
                        tl.vmul(c_ub, c_ub, scale_ub)
                        tl.vmul_scalar(c_ub, c_ub, factor)
                    with tl.copyout():
                        tl.store(c + (g * m + line) * n + offsets, c_ub, mask=offsets < n)
        begin = end


def grouped_matmul_slice_k_per_token_dequant_host(
    a: torch.Tensor,
    b: torch.Tensor,
    scale: torch.Tensor,
    per_token_scale: torch.Tensor,
    groupList: torch.Tensor,
    c: torch.Tensor,
    tile_m: tl.constexpr = 128,
    tile_n: tl.constexpr = 256,
    tile_k: tl.constexpr = 256,
    tile: tl.constexpr = 4096,
):
    m = a.shape[0]
    n = b.shape[1]
    groups = groupList.shape[0]
    if m * n * groups == 0:
        return
    product = torch.empty(groups * m * n, dtype=tl.int32)
    grouped_matmul_slice_k_per_token_dequant_kernel[tl.num_cube_cores()](
        a,
        b,
        scale,
        per_token_scale,
        groupList,
        c,
        product,
        groups,
        m,
        n,
        tile_m,
        tile_n,
        tile_k,
        tile,
    )
