"""One step of a diffusion model: a U-Net with residual blocks, a time embedding and attention at
the two lower resolutions, on latents of 4 x 64 x 64."""

import math

import torch
from torch import nn
from torch.nn import functional

CHANNELS, TIME = (128, 256, 512), 512


class Residual(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.norm = nn.GroupNorm(32, channels)
        self.convolution = nn.Conv2d(channels, out, 3, padding=1)
        self.time = nn.Linear(TIME, out)
        self.output_norm = nn.GroupNorm(32, out)
        self.output = nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()

    def forward(self, x, time):
        y = self.convolution(functional.silu(self.norm(x)))
        y = y + self.time(functional.silu(time))[:, :, None, None]
        return self.skip(x) + self.output(functional.silu(self.output_norm(y)))


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.heads = channels // 64
        self.norm = nn.GroupNorm(32, channels)
        self.projection = nn.Conv2d(channels, 3 * channels, 1)
        self.output = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        heads = self.projection(self.norm(x)).view(batch, 3, self.heads, 64, height * width)
        query, key, value = heads.transpose(3, 4).unbind(1)
        y = functional.scaled_dot_product_attention(query, key, value)
        return x + self.output(y.transpose(2, 3).reshape(x.shape))


class Level(nn.Module):
    def __init__(self, channels, out, attention):
        super().__init__()
        self.residual = Residual(channels, out)
        self.attention = Attention(out) if attention else nn.Identity()

    def forward(self, x, time):
        return self.attention(self.residual(x, time))


class UNetStep(nn.Module):
    def __init__(self):
        super().__init__()
        first, middle, last = CHANNELS
        self.time = nn.Sequential(nn.Linear(first, TIME), nn.SiLU(), nn.Linear(TIME, TIME))
        self.input = nn.Conv2d(4, first, 3, padding=1)
        self.down = nn.ModuleList((Level(first, first, False), Level(first, middle, True),
                                   Level(middle, last, True)))
        self.smaller = nn.ModuleList((nn.Conv2d(first, first, 3, 2, 1),
                                      nn.Conv2d(middle, middle, 3, 2, 1)))
        self.bottom = Level(last, last, True)
        self.up = nn.ModuleList((Level(last + last, last, True), Level(last + middle, middle, True),
                                 Level(middle + first, first, False)))
        self.norm = nn.GroupNorm(32, first)
        self.output = nn.Conv2d(first, 4, 3, padding=1)

    def embed(self, step):
        half = CHANNELS[0] // 2
        exponents = torch.arange(half, device=step.device, dtype=step.dtype) / half
        angles = step[:, None] * torch.exp(-math.log(10000) * exponents)
        return self.time(torch.cat((angles.sin(), angles.cos()), 1))

    def forward(self, latents, step):
        time, x, kept = self.embed(step), self.input(latents), []
        for index, level in enumerate(self.down):
            x = level(x, time)
            kept.append(x)
            if index < len(self.smaller):
                x = self.smaller[index](x)
        x = self.bottom(x, time)
        for index, level in enumerate(self.up):
            if index > 0:
                x = functional.interpolate(x, scale_factor=2.0)
            x = level(torch.cat((x, kept.pop()), 1), time)
        return self.output(functional.silu(self.norm(x)))

    def get_example_inputs(self, batch_size=2):
        return torch.randn(batch_size, 4, 64, 64), torch.full((batch_size,), 500.0)
