# shellcheck shell=bash
# Two cabled software HCAs behind the guest's IOMMU move every kind of message.

find_hcas
check "hghca demo" hghca demo -d "${HCAS[0]}" -d "${HCAS[1]}"
