"""Export what an environment has into files, batch by batch, so that a run can be killed and repeated."""
