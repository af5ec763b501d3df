"""Random calls with sparse tensors, compared with PyTorch and SciPy: scripts/sparse.py."""
