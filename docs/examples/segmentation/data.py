"""Patches of images and their masks."""

import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Patches(Dataset):
    def __init__(self, folder, size=128):
        self.images = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.size = size
        self.random = np.random.default_rng()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = np.load(self.images[index])
        top, left = self.random.integers(0, image.shape[0] - self.size, 2)
        patch = image[top : top + self.size, left : left + self.size]
        return torch.from_numpy(patch[..., :3]), torch.from_numpy(patch[..., 3])


def loaders(folder, batch_size):
    train, test = random_split(Patches(folder), [0.9, 0.1])
    return (
        DataLoader(train, batch_size, shuffle=True, num_workers=4),
        DataLoader(test, batch_size),
    )


def class_weights(dataset, classes):
    counts = np.empty(classes)
    for _, mask in dataset:
        counts += np.bincount(mask.flatten(), minlength=classes)
    return torch.from_numpy(counts.sum() / counts)
