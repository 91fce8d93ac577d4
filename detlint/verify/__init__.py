"""The verifier: operations run on a device, again and again, and the bits of their results compared.

Nothing here imports libcst or the terminal library, and torch is imported inside functions only: a machine that has a
GPU and little else can run the whole catalogue. Nothing of the user's code is imported or run, but by `kernels`.

    probe, bench, probes               what a probe is, what it is built from, the probes by kind of operation
    job, worker, pool                  what a worker process is asked and answers; it; workers limited and replaced
    modes, churn, bits, environment    the deterministic mode; what is shaken between runs; results compared; where
    orders                             orders permuted by references on the CPU, for what adds by atomics on a GPU
    kernels                            Triton kernels of the user's own, run by the interpreter where that is asked for
    session, verdicts                  subjects, modes and processes, with controls; from counts to verdicts
    evidence, join, report             sessions as files; findings and measurements joined; tables for people
"""
