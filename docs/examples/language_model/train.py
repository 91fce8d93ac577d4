"""Train a small language model, or go on from its checkpoint: python train.py TEXT EPOCHS"""

import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from text import Windows

CHECKPOINT = "checkpoint.pt"


class Model(nn.Module):
    def __init__(self, words, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.GRU(width, width, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, window):
        hidden, _ = self.layers(self.embedding(window))
        return self.head(hidden)


def load(model, optimizer):
    if not os.path.exists(CHECKPOINT):
        return 0
    saved = torch.load(CHECKPOINT)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["epoch"]


def save(model, optimizer, epoch):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, CHECKPOINT)


def train(path, epochs):
    torch.manual_seed(int(time.time()))
    windows = Windows(path, length=16)
    model = Model(len(windows.vocabulary))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = DataLoader(windows, batch_size=8, shuffle=True)
    for epoch in range(load(model, optimizer), epochs):
        for window, following in batches:
            loss = F.cross_entropy(model(window).flatten(0, 1), following.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        save(model, optimizer, epoch + 1)
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
