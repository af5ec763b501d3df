"""NumPy and PyTorch, or None where they are not installed."""

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None
