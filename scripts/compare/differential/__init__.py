"""Random calls, compared with PyTorch: scripts/differential.py."""
