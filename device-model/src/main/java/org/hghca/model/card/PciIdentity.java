package org.hghca.model.card;

import java.util.List;
import java.util.SortedMap;
import org.hghca.vfio.ConfigurationRegisters;

/**
 * What a card is on its PCI bus.
 *
 * @param vendorId 16 bits
 * @param deviceId 16 bits
 * @param classCode base class, subclass and programming interface, 24 bits
 * @param regions bytes of the card's regions by their base address register, 0 or 2; the interrupt
 *     vectors have one of their own, see {@link MsixRegion}
 * @param vectors the most interrupt vectors, up to 64
 * @param additions what else is in configuration space, in the order of the capabilities
 */
public record PciIdentity(
    int vendorId,
    int deviceId,
    int classCode,
    SortedMap<Integer, Long> regions,
    int vectors,
    List<Addition> additions) {

  /** Adds to a configuration space. */
  @FunctionalInterface
  public interface Addition {
    /**
     * Adds it.
     *
     * @param regions the function's registers
     */
    void to(ConfigurationRegisters.Builder registers, ConfigurationRegisters.Window regions);
  }

  /**
   * Starts the description of the configuration space, with all but the interrupt vectors.
   *
   * @param function the registers of all regions
   */
  public ConfigurationRegisters.Builder registers(ConfigurationRegisters.Window function) {
    ConfigurationRegisters.Builder builder =
        ConfigurationRegisters.of(vendorId, deviceId, classCode);
    regions.forEach(builder::region);
    additions.forEach(addition -> addition.to(builder, function));
    return builder;
  }

  /** Bytes of a region, 0 for a base address register without one. */
  public long regionSize(int bar) {
    return regions.getOrDefault(bar, 0L);
  }
}
