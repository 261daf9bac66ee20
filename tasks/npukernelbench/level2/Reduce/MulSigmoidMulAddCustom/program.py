import tile.language as tl


# outputs = sigmoid(input * mulscalar1) * mulscalar2 + addscalar3; the scalars are tensors of one
# element.
@ascend_kernel
def mul_sigmoid_mul_add_kernel(x, scale, factor, shift, y, total, tile):
    per_core = tl.cdiv(total, tl.num_programs(0))
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    inner = tl.extract_scalar(scale, 0)
    outer = tl.extract_scalar(factor, 0)
    add = tl.extract_scalar(shift, 0)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
        with tl.compute():
            tl.vmul_scalar(x_ub, x_ub, -inner, count=n)
            tl.vexp(x_ub, x_ub, count=n)
            tl.vadd_scalar(x_ub, x_ub, 1.0, count=n)
            tl.vreciprocal(x_ub, x_ub, count=n)
            tl.vmul_scalar(x_ub, x_ub, outer, count=n)
            tl.vadd_scalar(y_ub, x_ub, add, count=n)
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def mul_sigmoid_mul_add_host(
    input: torch.Tensor,
    mulscalar1: torch.Tensor,
    mulscalar2: torch.Tensor,
    addscalar3: torch.Tensor,
    outputs: torch.Tensor,
    tile: tl.constexpr = 4096,
):
    total = input.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 1024))
    mul_sigmoid_mul_add_kernel[cores](
        input,
        mulscalar1,
        mulscalar2,
        addscalar3,
        outputs,
        total,
        tile,
    )
