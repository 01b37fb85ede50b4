# shellcheck shell=bash
# An HCA is reset and opened again.

find_hcas
check "an HCA by its reset, opened again" junit reset "-Dhghca.lab.hca=${HCAS[0]}" \
  org.hghca.conformance.lab.HcaResetTest
