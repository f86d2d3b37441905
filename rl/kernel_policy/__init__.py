"""A policy that writes kernel parameter lines, and the environments it learns from. docs/rl.md tells how it
is used."""
