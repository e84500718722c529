"""The operators that //kernels:libtigon.so and the suites are made of."""

OPERATORS = [
    "rms_norm",
    "swiglu",
]
