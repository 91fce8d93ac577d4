"""Orders permuted: what a kernel of a GPU that adds by atomics may give, worked out on the CPU.

Each operation is a gather: values that come to places. Its reference states which orders these may come in; it is known
to compute the same, as in one order it gives torch's own result of the CPU up to rounding.

    addends        values by place, combined in other orders; why no order can change a bit
    gradients      the addends of any gradient, from the derivatives of the operation itself
    attention      of the gradient by queries, to which blocks of keys add
    indexed, scans sums, products and writes where an index points; running sums in tiles that look back
    table          which rows of the catalogue have a reference, and which
"""
