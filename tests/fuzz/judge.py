# Exact coefficients of all pairs of columns, for the fuzzer: every double is a fraction, sums and products are of whole
# numbers, and only the last step, a root and a quotient, is rounded.
#
# Input: a line "method strict", a line for each column of x, an empty line, a line for each column of y; values as
# hexadecimal floats or "NA". strict 1: a column with a missing value has no coefficient; 0: each pair has the rows
# that both columns have. Output: a line for each column of x with a word for each column of y: the coefficient,
# "few" (less than two rows), "constant" or "infinite" (an infinite value, for Pearson).
import sys
from math import isfinite, isqrt


def whole_numbers(values):
    """The values times a power of two, the largest of their denominators."""
    ratios = [v.as_integer_ratio() for v in values]
    unit = max(denominator for _, denominator in ratios)
    return [numerator * (unit // denominator) for numerator, denominator in ratios]


def doubled_ranks(values):
    """Average ranks, doubled."""
    place = {}
    for position, v in enumerate(sorted(values), 1):
        first, _ = place.get(v, (position, position))
        place[v] = (first, position)
    return [sum(place[v]) for v in values]


def moments(a, b):
    """n times the sums of products of deviations from the mean: of a with b, with a, b with b."""
    n, sum_a, sum_b = len(a), sum(a), sum(b)
    return (n * sum(x * y for x, y in zip(a, b)) - sum_a * sum_b,
            n * sum(x * x for x in a) - sum_a * sum_a,
            n * sum(y * y for y in b) - sum_b * sum_b)


def signs(a, b):
    """Sums over pairs of observations of products of signs of differences."""
    with_other = of_a = of_b = 0
    for k in range(len(a)):
        for q in range(k):
            s, t = (a[k] > a[q]) - (a[k] < a[q]), (b[k] > b[q]) - (b[k] < b[q])
            with_other += s * t
            of_a += s * s
            of_b += t * t
    return with_other, of_a, of_b


def quotient(numerator, square):
    """numerator / sqrt(square), to some 80 bits before it becomes a double."""
    shift = max(0, 160 + square.bit_length() - 2 * numerator.bit_length())
    shift += shift % 2
    root = isqrt((numerator * numerator << shift) // square)
    value = root / (1 << (shift // 2))
    return -value if numerator < 0 else value


def is_constant(values):
    return isfinite(values[0]) and all(value == values[0] for value in values)


def coefficient(method, strict, x, y):
    rows = [k for k in range(len(x)) if x[k] is not None and y[k] is not None]
    if len(rows) < 2 or (strict and len(rows) < len(x)):
        return "few"
    a, b = [x[k] for k in rows], [y[k] for k in rows]
    if method == "kendall":
        sums = signs(a, b)
    elif method == "spearman":
        sums = moments(doubled_ranks(a), doubled_ranks(b))
    elif all(map(isfinite, a + b)):
        sums = moments(whole_numbers(a), whole_numbers(b))
    else:
        return "constant" if is_constant(a) or is_constant(b) else "infinite"
    if sums[1] == 0 or sums[2] == 0:
        return "constant"
    return repr(quotient(sums[0], sums[1] * sums[2]))


def main():
    header, *lines = sys.stdin.read().splitlines()
    method, strict = header.split()
    between = lines.index("")
    columns = [[None if v == "NA" else float.fromhex(v) for v in line.split()] for line in lines]
    for x in columns[:between]:
        print(*(coefficient(method, strict == "1", x, y) for y in columns[between + 1:]))


main()
