"""A recurrent cell of one's own in a Python loop over 64 steps: many small operations, which eager
pays for one by one and a compiler unrolls."""

import torch
from torch import nn

STEPS, WIDTH = 64, 256


class RecurrentCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(WIDTH, 4 * WIDTH)
        self.state = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, sequence):
        hidden = cell = torch.zeros_like(sequence[:, 0])
        outputs = []
        for step in range(sequence.shape[1]):
            gates = self.input(sequence[:, step]) + self.state(hidden)
            entry, forget, update, out = gates.chunk(4, -1)
            cell = forget.sigmoid() * cell + entry.sigmoid() * update.tanh()
            hidden = out.sigmoid() * self.norm(cell).tanh()
            outputs.append(hidden)
        return self.output(torch.stack(outputs, 1))

    def get_example_inputs(self, batch_size=16):
        return (torch.randn(batch_size, STEPS, WIDTH),)
