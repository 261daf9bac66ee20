import tile.language as tl


# The gradients of MhcPost. A strip of all streams of a token goes through a core in pieces: dx and dh_out are stored, the sums
# over d of the strip are left in the workspace. Then the sums of a token's strips are added up.
@ascend_kernel
def mhc_post_grad_kernel(
    dy,
    x,
    h_res,
    h_out,
    h_post,
    dx,
    dh_res,
    dh_out,
    dh_post,
    parts,
    tokens,
    streams,
    depth,
    strip,
    strips,
    piece,
    tile,
):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    dy_ub = tl.alloc_ub(tile, dtype=tl.float32)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    out_ub = tl.alloc_ub(tile // 4, dtype=tl.float32)
    dx_ub = tl.alloc_ub(tile, dtype=tl.float32)
    dout_ub = tl.alloc_ub(tile // 4, dtype=tl.float32)
    product_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(16, dtype=tl.float32)
    sums_ub = tl.alloc_ub(16 * 16, dtype=tl.float32)
    part_ub = tl.alloc_ub(16 * 16, dtype=tl.float32)
    all_ub = tl.alloc_ub(16 * 16, dtype=tl.float32)
    for unit in range(core, tokens * strips, cores):
        token = unit // strips
        first = unit % strips * strip
        with tl.compute():
            tl.duplicate(sums_ub, 0.0, count=(streams + 1) * 16)
        for at in range(first, min(first + strip, depth), piece):
            cols = min(piece, min(first + strip, depth) - at)
            pitch = tl.pitch(cols)
            start = token * streams * depth + at
            with tl.copyin():
                tl.load_rows(dy + start, dy_ub, streams, cols, depth, pitch)
                tl.load_rows(x + start, x_ub, streams, cols, depth, pitch)
                tl.load(h_out + token * depth + at, out_ub, count=cols)
            with tl.compute():
                tl.duplicate(dx_ub, 0.0, count=streams * pitch)
                tl.duplicate(dout_ub, 0.0, count=cols)
                for k in range(streams):
                    tl.vmul_row(product_ub, dy_ub, x_ub[k * pitch:], streams, cols, pitch)
                    tl.row_sum(sum_ub, product_ub, streams, cols, pitch)
                    tl.vadd(sums_ub[k * 16:], sums_ub[k * 16:], sum_ub, count=streams)
                    for i in range(streams):
                        share = tl.extract_scalar(h_res, (token * streams + k) * streams + i)
                        tl.vaxpy(dx_ub[k * pitch:], dy_ub[i * pitch:], share, count=cols)
                    factor = tl.extract_scalar(h_post, token * streams + k)
                    tl.vaxpy(dout_ub, dy_ub[k * pitch:], factor, count=cols)
                tl.vmul_row(product_ub, dy_ub, out_ub, streams, cols, pitch)
                tl.row_sum(sum_ub, product_ub, streams, cols, pitch)
                tl.vadd(sums_ub[streams * 16:], sums_ub[streams * 16:], sum_ub, count=streams)
            with tl.copyout():
                tl.store_rows(dx + start, dx_ub, streams, cols, depth, pitch)
                tl.store(dh_out + token * depth + at, dout_ub, count=cols)
        with tl.copyout():
            tl.store(parts + unit * 256, sums_ub, count=(streams + 1) * 16)
    tl.sync_all()
    for token in range(core, tokens, cores):
        with tl.compute():
            tl.duplicate(all_ub, 0.0, count=(streams + 1) * 16)
        for s in range(strips):
            with tl.copyin():
                tl.load(parts + (token * strips + s) * 256, part_ub, count=(streams + 1) * 16)
            with tl.compute():
                tl.vadd(all_ub, all_ub, part_ub, count=(streams + 1) * 16)
        with tl.copyout():
            tl.store_rows(
                dh_res + token * streams * streams,
                all_ub,
                streams,
                streams,
                streams,
                16,
            )
            tl.store(dh_post + token * streams, all_ub[streams * 16:], count=streams)


def mhc_post_grad_host(
    dy: torch.Tensor,
    x: torch.Tensor,
    h_res: torch.Tensor,
    h_out: torch.Tensor,
    h_post: torch.Tensor,
    dx: torch.Tensor,
    dh_res: torch.Tensor,
    dh_out: torch.Tensor,
    dh_post: torch.Tensor,
    tile: tl.constexpr = 4096,
):
    if x.numel() == 0:
        return
    streams, depth = x.shape[2], x.shape[3]
    tokens = x.shape[0] * x.shape[1]
    assert streams <= 15
    piece = min(tile // max(streams, 4) // 16 * 16, depth)
    # strips for 48 cores, on any chip: which sums are added up is the same for any number of cores
    share = max(1, 48 // tokens)
    strip = min(depth, max(256, tl.pitch(tl.cdiv(depth, share))))
    strips = tl.cdiv(depth, strip)
    parts = torch.empty(tokens * strips * 256, dtype=tl.float32)
    cores = min(tl.num_vec_cores(), tokens * strips)
    mhc_post_grad_kernel[cores](
        dy,
        x,
        h_res,
        h_out,
        h_post,
        dx,
        dh_res,
        dh_out,
        dh_post,
        parts,
        tokens,
        streams,
        depth,
        strip,
        strips,
        piece,
        tile,
    )
