"""GPT-2 (124 million parameters) generating one token: a static key-value cache of 1024 positions,
512 of them filled. Generation is this call over and over, so its time is the time per token."""

import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, VOCABULARY, POSITIONS, FILLED = 12, 768, 12, 50257, 1024, 512
HEAD = WIDTH // HEADS


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.projection = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU("tanh"),
                                          nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, position, mask, keys, values):
        batch = x.shape[0]
        heads = self.projection(self.attention_norm(x)).view(batch, 1, 3, HEADS, HEAD)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        keys.index_copy_(2, position, key.to(keys.dtype))
        values.index_copy_(2, position, value.to(values.dtype))
        attention = functional.scaled_dot_product_attention(
            query, keys.to(query.dtype), values.to(query.dtype), attn_mask=mask)
        x = x + self.output(attention.transpose(1, 2).reshape(batch, 1, WIDTH))
        return x + self.feed_forward(self.norm(x))


class Gpt2Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, token, position):
        x = self.tokens(token) + self.positions(position)
        mask = torch.arange(POSITIONS, device=token.device) <= position
        for index, block in enumerate(self.blocks):
            x = block(x, position, mask.view(1, 1, 1, POSITIONS), self.keys[index],
                      self.values[index])
        return functional.linear(self.norm(x), self.tokens.weight)

    def get_example_inputs(self, batch_size=1):
        device = self.tokens.weight.device
        shape = (LAYERS, batch_size, HEADS, POSITIONS, HEAD)
        self.register_buffer("keys", torch.randn(shape, device=device))
        self.register_buffer("values", torch.randn(shape, device=device))
        return torch.randint(VOCABULARY, (batch_size, 1)), torch.tensor([FILLED])
