package org.hghca.vfio.kernel;

/** Whether an IOMMU confines what cards reach. */
final class IommuFindings {
  /** How an IOMMU is switched on. */
  static final String SWITCH_ON =
      "switch VT-d or AMD-Vi on in the firmware and boot with intel_iommu=on (Intel; AMD needs no"
          + " option, but not amd_iommu=off)";

  private IommuFindings() {}
}
