import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.up = nn.Linear(n, 2 * n)
        self.down = nn.Linear(2 * n, n)

    def forward(self, x):
        y = torch.relu(self.up(x))
        return x + self.down(y)


def sample(x):
    return torch.softmax(x.float(), -1).argmax(-1)
