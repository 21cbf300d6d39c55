"""PyTorch models written plainly, one file each, as functions of a dictionary of parameters.

Parameters have the names and shapes that the programs in examples/ give them, so that weights and
gradients are exchanged without any renaming: `layers.<l>.<name>` inside the repeated block, the
name alone outside. A model's sizes are read off the shapes.
"""
