"""What several rules ask of the same code, each question once: where a value comes from, what guards a row, which
rows a query reads, what a lock covers. Readers look at trees while those are there, or at facts of a codebase; the
rules judge."""
