"""ResNet-50 on images of 224 x 224: the convolutional network of most claims about compiling."""

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        out = 4 * width
        self.branch = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.skip = nn.Identity()
        if stride != 1 or channels != out:
            self.skip = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False),
                                      nn.BatchNorm2d(out))

    def forward(self, x):
        return torch.relu(self.branch(x) + self.skip(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                  nn.MaxPool2d(3, 2, 1)]
        channels = 64
        for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for block in range(blocks):
                layers.append(Bottleneck(channels, width, stride if block == 0 else 1))
                channels = 4 * width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1000)

    def forward(self, images):
        return self.classifier(self.features(images).mean((2, 3)))

    def get_example_inputs(self, batch_size=64):
        return (torch.randn(batch_size, 3, 224, 224),)
