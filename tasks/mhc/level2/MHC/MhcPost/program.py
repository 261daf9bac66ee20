import tile.language as tl


# y(i, d) = h_post(i) h_out(d) + sum over k of h_res(k, i) x(k, d), of each token. A piece of all streams of a token is a
# matrix; the factors are read as numbers. Pieces go to the cores in turn.
@ascend_kernel
def mhc_post_kernel(x, h_res, h_out, h_post, y, units, streams, depth, piece, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    out_ub = tl.alloc_ub(tile // 4, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    pieces = tl.cdiv(depth, piece)
    for unit in range(tl.program_id(0), units, tl.num_programs(0)):
        token = unit // pieces
        at = unit % pieces * piece
        cols = min(piece, depth - at)
        pitch = tl.pitch(cols)
        start = token * streams * depth + at
        with tl.copyin():
            tl.load_rows(x + start, x_ub, streams, cols, depth, pitch)
            tl.load(h_out + token * depth + at, out_ub, count=cols)
        with tl.compute():
            tl.broadcast_row(y_ub, out_ub, streams, cols, pitch)
            for i in range(streams):
                factor = tl.extract_scalar(h_post, token * streams + i)
                tl.vmul_scalar(y_ub[i * pitch:], y_ub[i * pitch:], factor, count=cols)
                for k in range(streams):
                    share = tl.extract_scalar(h_res, (token * streams + k) * streams + i)
                    tl.vaxpy(y_ub[i * pitch:], x_ub[k * pitch:], share, count=cols)
        with tl.copyout():
            tl.store_rows(y + start, y_ub, streams, cols, depth, pitch)


def mhc_post_host(
    x: torch.Tensor,
    h_res: torch.Tensor,
    h_out: torch.Tensor,
    h_post: torch.Tensor,
    y: torch.Tensor,
    tile: tl.constexpr = 6144,
):
    if x.numel() == 0:
        return
    streams, depth = x.shape[2], x.shape[3]
    tokens = x.shape[0] * x.shape[1]
    piece = min(tile // max(streams, 4) // 16 * 16, depth)
    units = tokens * tl.cdiv(depth, piece)
    cores = min(tl.num_vec_cores(), units)
    mhc_post_kernel[cores](x, h_res, h_out, h_post, y, units, streams, depth, piece, tile)
