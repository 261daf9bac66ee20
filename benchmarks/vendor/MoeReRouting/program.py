import tile.language as tl


# Tokens that lie by rank, and within a rank by expert, come to lie by expert, and within an expert by rank: counts[rank][expert] tokens
# stay together. Cores take equal shares of the result's rows; each goes through the counts, expert by expert.
@ascend_kernel
def moe_re_routing_kernel(
    tokens,
    counts,
    scales,
    out,
    out_scales,
    places,
    of_experts,
    has_scales,
    rows,
    width,
    ranks,
    experts,
    most,
    per_core,
    step,
    tile,
):
    core = tl.program_id(0)
    first = core * per_core
    last = min(first + per_core, rows)
    counts_ub = tl.alloc_ub(most, dtype=counts.dtype)
    starts_ub = tl.alloc_ub(most, dtype=tl.int32)
    experts_ub = tl.alloc_ub(most, dtype=counts.dtype)
    token_ub = tl.alloc_ub(tile, dtype=tokens.dtype)
    scale_ub = tl.alloc_ub(1024, dtype=tl.float32)
    place_ub = tl.alloc_ub(1024, dtype=tl.int32)
    with tl.copyin():
        tl.load(counts, counts_ub, count=ranks * experts)
    start = 0
    for i in range(ranks * experts):
        with tl.compute():
            tl.set_scalar(starts_ub, i, start)
        start += int(tl.extract_scalar(counts_ub, i))
    if core == 0:
        for e in range(experts):
            all = 0
            for r in range(ranks):
                all += int(tl.extract_scalar(counts_ub, r * experts + e))
            with tl.compute():
                tl.set_scalar(experts_ub, e, all)
        with tl.copyout():
            tl.store(of_experts, experts_ub, count=experts)
    to = 0
    for turn in range(ranks * experts):
        if to < last:
            i = turn % ranks * experts + turn // ranks
            count = int(tl.extract_scalar(counts_ub, i))
            # Rows of the result from `begin` to `end` are this core's.
            begin = max(to, first)
            end = min(to + count, last)
            if begin < end:
                source = int(tl.extract_scalar(starts_ub, i)) + begin - to
                for at in range(0, (end - begin) * width, step * width):
                    n = min(step * width, (end - begin) * width - at)
                    with tl.copyin():
                        tl.load(tokens + source * width + at, token_ub, count=n)
                    with tl.copyout():
                        tl.store(out + begin * width + at, token_ub, count=n)
                for at in range(begin, end, 1024):
                    n = min(1024, end - at)
                    with tl.compute():
                        tl.iota(place_ub, source + at - begin, count=n)
                    with tl.copyout():
                        tl.store(places + at, place_ub, count=n)
                    if has_scales:
                        with tl.copyin():
                            tl.load(scales + source + at - begin, scale_ub, count=n)
                        with tl.copyout():
                            tl.store(out_scales + at, scale_ub, count=n)
            to += count


def moe_re_routing_host(
    tokens: torch.Tensor,
    counts: torch.Tensor,
    scales: torch.Tensor = None,
    out: torch.Tensor = None,
    out_scales: torch.Tensor = None,
    places: torch.Tensor = None,
    of_experts: torch.Tensor = None,
    most: tl.constexpr = 1024,
    tile: tl.constexpr = 16384,
):
    rows, width = tokens.shape
    ranks, experts = counts.shape
    if rows * width == 0:
        return
    assert ranks * experts <= most
    assert width <= tile
    cores = min(tl.num_vec_cores(), tl.cdiv(rows, 8))
    per_core = tl.cdiv(tl.cdiv(rows, cores), 8) * 8
    moe_re_routing_kernel[cores](
        tokens,
        counts,
        scales,
        out,
        out_scales,
        places,
        of_experts,
        scales is not None,
        rows,
        width,
        ranks,
        experts,
        most,
        per_core,
        tile // width,
        tile,
    )
