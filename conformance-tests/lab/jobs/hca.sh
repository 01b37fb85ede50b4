# shellcheck shell=bash
# Two cabled software HCAs behind the guest's IOMMU, by the command line.

find_hcas
check "hghca info" hghca info -d "${HCAS[0]}" -v
check "hghca demo" hghca demo -d "${HCAS[0]}" -d "${HCAS[1]}"
