"""A convolutional network whose images change their size from call to call, as those of a service
do: what recompiling for a new shape costs, and what a dynamic shape saves.

The sizes are an odd number, so that two callers who take turns both see all of them."""

import torch
from torch import nn

SIZES = (224, 192, 160)


class ChangingShapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        layers, channels = [], 3
        for width in (32, 64, 128, 256):
            layers += [nn.Conv2d(channels, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width),
                       nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1, bias=False),
                       nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1000)

    # Stands for whoever sends the next image, so it is not part of what is compiled.
    @torch.compiler.disable
    def next_image(self, images):
        size = SIZES[self.calls % len(SIZES)]
        self.calls += 1
        return images[:, :, :size, :size].contiguous()

    def forward(self, images):
        x = self.features(self.next_image(images))
        return self.classifier(x.mean((2, 3)))

    def get_example_inputs(self, batch_size=8):
        return (torch.randn(batch_size, 3, max(SIZES), max(SIZES)),)
