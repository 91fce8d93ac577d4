"""Permuted orders: the results that a GPU kernel with atomic adds may give, computed on the CPU.

Each operation is a gather: values that arrive at places. Its reference states in which orders they may arrive. A
reference is known to compute the same, since in one order it gives torch's own CPU result up to rounding.

    addends        values by place, combined in other orders; why no order can change a bit
    gradients      the addends of any gradient, from the derivatives of the operation itself
    attention      those of the gradient by queries, to which blocks of keys add
    indexed, scans sums, products and writes where an index points; running sums in tiles that look back
    table          which rows of the catalogue have a reference, and which
"""
