"""The verifier: it runs operations on a device repeatedly and compares the bits of their results.

Nothing here imports libcst or the terminal library, and torch is imported inside functions only, so that a machine with
a GPU and little else can run the whole catalogue. Only `kernels` imports or runs the user's code.

    probe, bench, probes               what a probe is, what it is built from, the probes by kind of operation
    job, worker, pool                  a worker's jobs and answers; the worker; workers limited and replaced
    modes, churn, bits, environment    deterministic modes; disturbances between runs; comparisons; the machine
    orders                             orders permuted by references on the CPU, for GPU kernels with atomic adds
    kernels                            the user's own Triton kernels, run by the interpreter on request
    session, verdicts                  subjects, modes and processes, with controls; from counts to verdicts
    evidence, join, report             sessions as files; findings and measurements joined; tables for people
"""
