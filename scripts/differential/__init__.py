"""The random differential test against PyTorch: scripts/differential.py."""
