import tile.language as tl


# C = A * s, element by element.
@ascend_kernel
def matrix_scalar_multiplication_kernel(a, c, s, total, blocks, tile):
    start = tl.program_id(0) * blocks // tl.num_programs(0) * 64
    end = min((tl.program_id(0) + 1) * blocks // tl.num_programs(0) * 64, total)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    c_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(a + offsets, a_ub, mask=offsets < end)
        with tl.compute():
            tl.vmul(c_ub, a_ub, s)
        with tl.copyout():
            tl.store(c + offsets, c_ub, mask=offsets < end)


def matrix_scalar_multiplication_host(
    A: torch.Tensor,
    C: torch.Tensor,
    s: float,
    tile: tl.constexpr = 8192,
):
    total = A.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 4096))
    matrix_scalar_multiplication_kernel[cores](A, C, s, total, tl.cdiv(total, 64), tile)
