import tile.language as tl


# y = (x - mean) * rstd * weight + bias, mean and rstd = 1 / sqrt(variance + epsilon) over all
# dimensions but the channels; in training run_mean and run_var move towards mean and variance. A
# core's share are channels, several at once where they are small: the first turn makes the mean,
# the second the variance, the third y. The published module rounds each step of y to the type of
# x, or of weight, and so does this.
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
    work_ub = tl.alloc_ub(tile, dtype=tl.float32)
    step_ub = tl.alloc_ub(tile, dtype=x.dtype)
    scaled_ub = tl.alloc_ub(tile, dtype=weight.dtype)
    line_ub = tl.alloc_ub(tile // 16, dtype=x.dtype)
    mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    squares_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    center_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    scale_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    weight_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    bias_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    run_mean_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    run_var_ub = tl.alloc_ub(tile // 16, dtype=tl.float32)
    for channel in range(first, last, step):
        n = min(step, last - channel)
        with tl.copyin():
            tl.load(weight + channel, weight_ub, count=n)
            tl.load(bias + channel, bias_ub, count=n)
            if train:
                tl.load(run_mean + channel, run_mean_ub, count=n)
                tl.load(run_var + channel, run_var_ub, count=n)
        with tl.compute():
            tl.duplicate(mean_ub, 0.0, count=n)
            tl.duplicate(squares_ub, 0.0, count=n)
            tl.duplicate(scale_ub, 0.0, count=n)
        for turn in range(3):
            for sample in range(batch):
                for at in range(0, size, piece):
                    m = min(piece, size - at)
                    place = (sample * channels + channel) * size + at
                    with tl.copyin():
                        tl.load_rows(x + place, x_ub, n, m, size, pitch)
                    if turn == 0:
                        with tl.compute():
                            tl.row_sum(part_ub, x_ub, n, m, pitch)
                            tl.vadd(mean_ub, mean_ub, part_ub, count=n)
                    elif turn == 1:
                        with tl.compute():
                            tl.vsub_col(work_ub, x_ub, mean_ub, n, m, pitch)
                            tl.vmul(work_ub, work_ub, work_ub, count=n * pitch)
                            tl.row_sum(part_ub, work_ub, n, m, pitch)
                            tl.vadd(squares_ub, squares_ub, part_ub, count=n)
                            tl.vsub_col(x_ub, x_ub, center_ub, n, m, pitch)
                            tl.cast(step_ub, x_ub, count=n * pitch)
                            tl.cast(x_ub, step_ub, count=n * pitch)
                            tl.vmul(x_ub, x_ub, x_ub, count=n * pitch)
                            tl.cast(step_ub, x_ub, count=n * pitch)
                            tl.cast(x_ub, step_ub, count=n * pitch)
                            tl.row_sum(part_ub, x_ub, n, m, pitch)
                            tl.vadd(scale_ub, scale_ub, part_ub, count=n)
                    else:
                        with tl.compute():
                            tl.vsub_col(x_ub, x_ub, center_ub, n, m, pitch)
                            tl.cast(step_ub, x_ub, count=n * pitch)
                            tl.cast(x_ub, step_ub, count=n * pitch)
                            tl.vmul_col(x_ub, x_ub, scale_ub, n, m, pitch)
                            tl.cast(step_ub, x_ub, count=n * pitch)
                            tl.cast(x_ub, step_ub, count=n * pitch)
                            tl.vmul_col(x_ub, x_ub, weight_ub, n, m, pitch)
                            tl.cast(scaled_ub, x_ub, count=n * pitch)
                            tl.cast(x_ub, scaled_ub, count=n * pitch)
                            tl.vadd_col(y_ub, x_ub, bias_ub, n, m, pitch)
                        with tl.copyout():
                            tl.store_rows(y + place, y_ub, n, m, size, pitch)
            with tl.compute():
                if turn == 0:
                    tl.vmul_scalar(mean_ub, mean_ub, 1.0 / (batch * size), count=n)
                    tl.cast(line_ub, mean_ub, count=n)
                    tl.cast(center_ub, line_ub, count=n)
                elif turn == 1:
                    tl.vmul_scalar(squares_ub, squares_ub, 1.0 / (batch * size), count=n)
                    tl.vadd_scalar(part_ub, squares_ub, epsilon, count=n)
                    tl.vrsqrt(part_ub, part_ub, count=n)
                    tl.vmul_scalar(scale_ub, scale_ub, 1.0 / (batch * size), count=n)
                    tl.cast(line_ub, scale_ub, count=n)
                    tl.cast(scale_ub, line_ub, count=n)
                    tl.vadd_scalar(scale_ub, scale_ub, epsilon, count=n)
                    tl.cast(line_ub, scale_ub, count=n)
                    tl.cast(scale_ub, line_ub, count=n)
                    tl.vrsqrt(scale_ub, scale_ub, count=n)
                    tl.cast(line_ub, scale_ub, count=n)
                    tl.cast(scale_ub, line_ub, count=n)
        with tl.compute():
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
