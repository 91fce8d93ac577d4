"""Digests that identify content."""

from __future__ import annotations

try:  # hashlib loads OpenSSL, which takes as long as all digests of a small run
    from _blake2 import blake2b as blake2b
except ImportError:
    from hashlib import blake2b as blake2b


def digest(content: bytes) -> bytes:
    """Return a 32-byte digest that is unique to the content. The store keeps some: a change needs a new schema."""
    return blake2b(content, digest_size=32).digest()
