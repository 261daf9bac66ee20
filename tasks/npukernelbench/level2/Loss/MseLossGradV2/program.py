import tile.language as tl


# y = (predict - label) * factor * dout with factor = 2 / n for n elements if reduction is "mean",
# else 2.
@ascend_kernel
def mse_loss_grad_kernel(predict, label, dout, y, total, per_core, tile, factor):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    a_ub = tl.alloc_ub(tile, dtype=tl.float32)
    b_ub = tl.alloc_ub(tile, dtype=tl.float32)
    d_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(predict + at, a_ub, count=n)
            tl.load(label + at, b_ub, count=n)
            tl.load(dout + at, d_ub, count=n)
        with tl.compute():
            tl.vsub(a_ub, a_ub, b_ub, count=n)
            tl.vmul_scalar(a_ub, a_ub, factor, count=n)
            tl.vmul(y_ub, a_ub, d_ub, count=n)
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def mse_loss_grad_host(predict, label, dout, y, reduction: str = "mean", tile: tl.constexpr = 3072):
    total = predict.numel()
    if total == 0:
        return
    factor = 2.0 / total if reduction == "mean" else 2.0
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 2048))
    per_core = tl.cdiv(total, cores)
    mse_loss_grad_kernel[cores](predict, label, dout, y, total, per_core, tile, factor)
