package org.hghca.vfio.kernel;

import java.util.List;
import java.util.Optional;

/**
 * Functions that the IOMMU cannot distinguish: a user gets all of them or none.
 *
 * @param noiommu whether no IOMMU is behind it: the kernel made it for vfio-pci in its unsafe mode
 * @param others its other functions, by address
 */
public record IommuGroup(int number, boolean noiommu, List<Member> others) {

  /**
   * Another function of the group.
   *
   * @param driver empty when it has none
   */
  public record Member(String address, Optional<String> driver) {

    /**
     * Whether the kernel gives the group to a user while this function has its driver: it has none,
     * or one that does no DMA of its own ({@code driver_managed_dma} in the kernel).
     */
    public boolean allowsUser() {
      return driver
          .map(
              name -> Vfio.isVfioDriver(name) || "pci-stub".equals(name) || "pcieport".equals(name))
          .orElse(true);
    }
  }

  public IommuGroup {
    others = List.copyOf(others);
  }

  /** The functions that prevent the group from being given to a user. */
  public List<Member> obstacles() {
    return others.stream().filter(member -> !member.allowsUser()).toList();
  }
}
