"""Train a small segmentation network: python train.py FOLDER"""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.backends import cudnn

from data import class_weights, loaders

cudnn.benchmark = True


class Segmenter(nn.Module):
    def __init__(self, classes, width=32):
        super().__init__()
        self.encoder = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.decoder = nn.Conv2d(width, classes, 1)

    def forward(self, image):
        scores = self.decoder(torch.relu(self.encoder(image)))
        return F.interpolate(scores, size=image.shape[-2:], mode="bilinear", align_corners=False)


def seed_everything(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)
    torch.manual_seed(seed)


def train(folder, device="cuda", epochs=10):
    model = Segmenter(classes=2).to(device)
    seed_everything(0)
    batches, _ = loaders(folder, batch_size=16)
    weights = class_weights(batches.dataset, classes=2).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for epoch in range(epochs):
        for image, mask in batches:
            loss = F.cross_entropy(model(image.to(device)), mask.long().to(device), weights)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.save(model.state_dict(), f"epoch-{epoch}.pt")


if __name__ == "__main__":
    train(sys.argv[1])
