# shellcheck shell=bash
# What a card behind the guest's IOMMU says of itself.

find_hcas
check "hghca info" hghca info -d "${HCAS[0]}" -v
