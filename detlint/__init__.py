"""detlint finds what makes two runs of PyTorch code differ."""

__version__ = "0.1.0"
