"""A text as windows of numbers."""

import torch
from torch.utils.data import Dataset


class Vocabulary:
    def __init__(self, words: list[str]):
        self.numbers = {word: number for number, word in enumerate(set(words))}

    def __len__(self):
        return len(self.numbers)

    def encode(self, words):
        return torch.tensor([self.numbers[word] for word in words])


class Windows(Dataset):
    def __init__(self, path, length):
        with open(path, encoding="utf-8") as file:
            words = file.read().split()
        self.vocabulary = Vocabulary(words)
        self.words = self.vocabulary.encode(words)
        self.length = length

    def __len__(self):
        return len(self.words) // self.length - 1

    def __getitem__(self, index):
        window = self.words[index * self.length : (index + 1) * self.length + 1]
        return window[:-1], window[1:]
