import tile.language as tl


# y = (x - mean) * rstd * weight + bias, mean and rstd = 1 / sqrt(variance + epsilon) over all
# dimensions but the channels; in training running_mean and running_var move towards mean and
# variance. As in the published module, each step of y is rounded to the type of x, or of weight.
# A core's share are channels, several at once where they are small; each piece's means and
# squares join those of the pieces before.
@ascend_kernel
def norm_kernel(x, weight, bias, run_mean, run_var, y, mean, rstd, tile, epsilon, momentum, train):
    batch, channels, size = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
    per_core = tl.cdiv(channels, tl.num_programs(0))
    first = tl.program_id(0) * per_core
    last = min(first + per_core, channels)
    piece = min(size, tile)
    pitch = tl.pitch(piece)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    shift_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    step_ub = tl.alloc_ub(tile, dtype=x.dtype)
    scaled_ub = tl.alloc_ub(tile, dtype=weight.dtype)
    line_ub = tl.alloc_ub(tile // 16, dtype=x.dtype)
    run_mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    run_var_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for channel in range(first, last, step):
        n = min(step, last - channel)
        seen = 0
        with tl.compute():
            tl.duplicate(mean_ub, 0.0, count=n)
            tl.duplicate(squares_ub, 0.0, count=n)
        for sample in range(batch):
            start = (sample * channels + channel) * size
            for at in range(0, size, piece):
                m = min(piece, size - at)
                with tl.copyin():
                    tl.load_rows(x + start + at, x_ub, n, m, size, pitch)
                with tl.compute():
                    tl.row_sum(shift_ub, x_ub, n, m, pitch)
                    tl.vmul_scalar(shift_ub, shift_ub, 1.0 / m, count=n)
                    tl.vsub_col(x_ub, x_ub, shift_ub, n, m, pitch)
                    tl.vmul(x_ub, x_ub, x_ub, count=n * pitch)
                    tl.row_sum(part_ub, x_ub, n, m, pitch)
                    tl.vadd(squares_ub, squares_ub, part_ub, count=n)
                    tl.vsub(shift_ub, shift_ub, mean_ub, count=n)
                    tl.vaxpy(mean_ub, shift_ub, m / (seen + m), count=n)
                    tl.vmul(shift_ub, shift_ub, shift_ub, count=n)
                    tl.vaxpy(squares_ub, shift_ub, m / (seen + m) * seen, count=n)
                seen += m
        with tl.copyin():
            tl.load(weight + channel, weight_ub, count=n)
            tl.load(bias + channel, bias_ub, count=n)
            if train:
                tl.load(run_mean + channel, run_mean_ub, count=n)
                tl.load(run_var + channel, run_var_ub, count=n)
        with tl.compute():
            tl.vmul_scalar(squares_ub, squares_ub, 1.0 / seen, count=n)
            tl.vadd_scalar(part_ub, squares_ub, epsilon, count=n)
            tl.vrsqrt(part_ub, part_ub, count=n)
            tl.cast(line_ub, squares_ub, count=n)
            tl.cast(shift_ub, line_ub, count=n)
            tl.vadd_scalar(shift_ub, shift_ub, epsilon, count=n)
            tl.cast(line_ub, shift_ub, count=n)
            tl.cast(shift_ub, line_ub, count=n)
            tl.vrsqrt(shift_ub, shift_ub, count=n)
            tl.cast(line_ub, shift_ub, count=n)
            tl.cast(shift_ub, line_ub, count=n)
            if train:
                tl.vmul_scalar(run_mean_ub, run_mean_ub, 1.0 - momentum, count=n)
                tl.vaxpy(run_mean_ub, mean_ub, momentum, count=n)
                tl.vmul_scalar(run_var_ub, run_var_ub, 1.0 - momentum, count=n)
                tl.vaxpy(run_var_ub, squares_ub, momentum, count=n)
        with tl.copyout():
            tl.store(mean + channel, mean_ub, count=n)
            tl.store(rstd + channel, part_ub, count=n)
            if train:
                tl.store(run_mean + channel, run_mean_ub, count=n)
                tl.store(run_var + channel, run_var_ub, count=n)
        with tl.compute():
            tl.cast(line_ub, mean_ub, count=n)
            tl.cast(mean_ub, line_ub, count=n)
        for sample in range(batch):
            start = (sample * channels + channel) * size
            for at in range(0, size, piece):
                m = min(piece, size - at)
                with tl.copyin():
                    tl.load_rows(x + start + at, x_ub, n, m, size, pitch)
                with tl.compute():
                    tl.vsub_col(x_ub, x_ub, mean_ub, n, m, pitch)
                    tl.cast(step_ub, x_ub, count=n * pitch)
                    tl.cast(x_ub, step_ub, count=n * pitch)
                    tl.vmul_col(x_ub, x_ub, shift_ub, n, m, pitch)
                    tl.cast(step_ub, x_ub, count=n * pitch)
                    tl.cast(x_ub, step_ub, count=n * pitch)
                    tl.vmul_col(y_ub, x_ub, weight_ub, n, m, pitch)
                    tl.cast(scaled_ub, y_ub, count=n * pitch)
                    tl.cast(y_ub, scaled_ub, count=n * pitch)
                    tl.vadd_col(y_ub, y_ub, bias_ub, n, m, pitch)
                with tl.copyout():
                    tl.store_rows(y + start + at, y_ub, n, m, size, pitch)


def norm_host(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    run_mean: torch.Tensor,
    run_var: torch.Tensor,
    y: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
    is_training: bool = True,
    tile: tl.constexpr = 4096,
):
    if x.numel() == 0:
        return
    cores = min(tl.num_vec_cores(), x.shape[1])
    train, eps = is_training, epsilon
    norm_kernel[cores](
        x,
        weight,
        bias,
        run_mean,
        run_var,
        y,
        mean,
        rstd,
        tile,
        eps,
        momentum,
        train,
    )
