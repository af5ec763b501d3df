"""Random programs whose gradients are compared with PyTorch's: scripts/gradients.py."""
