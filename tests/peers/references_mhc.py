"""Hyper-connections (src/task/reference/ref_mhc.c). The models are written with matrix products and, for the gradient, by torch's own
differentiation: another way than the sums of the references."""
import torch

from references_torch import FLOAT


def choose(rows):
    return rows[4:]  # the first are the large ones


def post(x, h_res, h_out, h_post):
    """Stream i gets h_res[k, i] of stream k: x times the transpose."""
    return torch.matmul(h_res.transpose(-1, -2), x) + h_post.unsqueeze(-1) * h_out.unsqueeze(-2)


def mhc_post(i, a, c):
    return post(*(t[0].double() for t in i)).float().to(i[0][0].dtype)


def mhc_post_grad(i, a, c):
    inputs = [t[0].double().requires_grad_() for t in i[1:]]
    post(*inputs).backward(i[0][0].double())
    return {output: t.grad.float().to(i[output + 1][0].dtype) for output, t in enumerate(inputs)}


MODELS = {
    "MhcPost": (mhc_post, FLOAT),
    "MhcPostGrad": (mhc_post_grad, FLOAT),
}
