"""A small mixture of experts: each token goes to 2 of 8 feed-forward networks, chosen by its own
values. Control flow that depends on data, which graphs are broken at."""

import torch
from torch import nn

LAYERS, EXPERTS, CHOSEN, WIDTH, LENGTH = 4, 8, 2, 256, 64


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
            for _ in range(EXPERTS))

    def forward(self, x):
        tokens = self.norm(x).reshape(-1, WIDTH)
        weights, chosen = self.router(tokens).softmax(-1).topk(CHOSEN, -1)
        out = torch.zeros_like(tokens)
        for index, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == index)
            if rows.numel() == 0:
                continue
            found = expert(tokens[rows]) * weights[rows, places, None]
            out = out.index_add(0, rows, found.to(out.dtype))
        return x + out.view(x.shape)


class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Experts() for _ in range(LAYERS))
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.output(x)

    def get_example_inputs(self, batch_size=8):
        return (torch.randn(batch_size, LENGTH, WIDTH),)
