"""The test of the guide and its tables: scripts/guide.py."""
