# shellcheck shell=bash
# A store of 8 bytes to a BAR of a vfio-user device reaches the server as one write of 8 bytes: the
# doorbell of a queue pair is such a store.
device=$(functions 1234:0008)
bind "$device"
check "an 8-byte store to a BAR arrives as one 8-byte write" /out/programs/store "$device"
