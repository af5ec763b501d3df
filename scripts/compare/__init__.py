"""Random tests that compare thorn with PyTorch: what they share, and a folder for each."""
