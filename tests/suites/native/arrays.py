# SPDX-License-Identifier: MIT
"""What NumPy computes of arrays of each type, bit for bit."""
import hashlib
import numpy as np


def show(name, result):
    data = np.ascontiguousarray(result)
    print(name, data.dtype, hashlib.sha256(data.tobytes()).hexdigest()[:16])


random = np.random.default_rng(24)
for kind in ('int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float32', 'float64'):
    a = (random.random(3001) * 100 - (0 if kind[0] == 'u' else 50)).astype(kind)
    b = (random.random(3001) * 100 + 1).astype(kind)
    for of in (np.add, np.subtract, np.multiply, np.floor_divide, np.maximum, np.minimum, np.less, np.equal):
        show('%s %s' % (kind, of.__name__), of(a, b))
    show('%s sort' % kind, np.sort(a))
    show('%s argsort' % kind, np.argsort(a, kind='stable'))
    show('%s sum' % kind, np.sum(a[::3]))
    show('%s cumsum' % kind, np.cumsum(a))
    show('%s where' % kind, np.where(a > b, a, b))
    show('%s take' % kind, a[(np.arange(3001) * 77) % 3001])
    for to in ('int8', 'int32', 'int64', 'float32', 'float64'):
        show('%s as %s' % (kind, to), a.astype(to))
    if kind[0] == 'f':
        for of in (np.sqrt, np.exp, np.log1p, np.sin, np.cos, np.tan, np.arctan, np.exp2, np.log, np.log2, np.log10,
                   np.cbrt, np.sinh, np.tanh, np.floor, np.rint, np.isnan, np.signbit):
            show('%s %s' % (kind, of.__name__), of(np.abs(a) + a.dtype.type(0.5)))
        m = a[:2500].reshape(50, 50)
        show('%s matmul' % kind, m @ m.T)
        show('%s solve' % kind, np.linalg.solve(m, m[:, 0]))
        show('%s inv' % kind, np.linalg.inv(m))
        show('%s cholesky' % kind, np.linalg.cholesky(m @ m.T + np.eye(50, dtype=kind) * 1000))
        show('%s fft' % kind, np.fft.rfft(a))
        show('%s convolve' % kind, np.convolve(a, b[:17]))
        show('%s power' % kind, np.power(np.abs(b), a.dtype.type(1.25)))
