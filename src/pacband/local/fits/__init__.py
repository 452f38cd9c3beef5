"""The local fit at a batch of points, given the weights: what every solver computes in the end.

`primal` solves for θ: one p × p system a point, for a basis of p features. `dual` solves through the Gram matrix: one
L × L system a point, for L samples. `bordered` solves stacks of such systems.
"""
