"""BERT base: an encoder of 12 layers, width 768, on sequences of 128 tokens."""

import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH = 12, 768, 12, 30522, 128


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                          nn.Linear(4 * WIDTH, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x):
        batch, length, _ = x.shape
        heads = self.projection(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        attention = functional.scaled_dot_product_attention(query, key, value)
        attention = attention.transpose(1, 2).reshape(batch, length, WIDTH)
        x = self.attention_norm(x + self.output(attention))
        return self.norm(x + self.feed_forward(x))


class BertBase(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(512, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.tokens(ids) + self.positions(positions))
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pooler(x[:, 0]))

    def get_example_inputs(self, batch_size=32):
        return (torch.randint(VOCABULARY, (batch_size, LENGTH)),)
