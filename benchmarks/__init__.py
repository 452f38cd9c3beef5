"""pacband beside its peers: `python -m benchmarks [names...] [--quick]`, or `make bench`.

Each module measures all its contenders in one run, on the same data, and prints ratios; see its docstring for
what is compared and why.
"""
