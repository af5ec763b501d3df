"""Models with random weights for torch.export: each entry of `MODELS` makes one, with inputs of two shapes."""

from . import images, language, layers
from .example import MODELS, call

__all__ = ["MODELS", "call", "images", "language", "layers"]
