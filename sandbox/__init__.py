"""A real Kafka and a real single-node Kubernetes on this machine, for the demo, the tests and the benchmarks.

It knows nothing of the operator and is never part of the operator's image. Layers, lowest first:
`errors`, `console`, `layout` → `commands`, `procfs`, `processes`, `network`, `faults` → `packages`, `toolchain`,
`binaries`, `pki` → `containerd`, `node`, `control_plane`, `cluster`, `kafka`, `images` → `cleanup`, `provider`,
`lifecycle` → `cli`.
"""
