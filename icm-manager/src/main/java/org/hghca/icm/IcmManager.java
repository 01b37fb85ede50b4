package org.hghca.icm;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.PciFunction;

/**
 * The interconnect context memory of a card: lays its tables out, and backs the entries in use with
 * host memory. Thread-safe.
 *
 * <p>The order is the card's: {@link #initHca} goes to it with INIT_HCA, {@link #activate} follows,
 * and then ranges may be reserved.
 */
public final class IcmManager implements AutoCloseable {
  private final HardwareProfile profile;
  private final IcmLayout layout;
  private final ChunkMapper mapper;
  private final Map<IcmTable, TableMemory> tables = new EnumMap<>(IcmTable.class);

  private IcmManager(HardwareProfile profile, IcmLayout layout, ChunkMapper mapper) {
    this.profile = profile;
    this.layout = layout;
    this.mapper = mapper;
    for (IcmTable table : IcmTable.values()) {
      tables.put(table, new TableMemory(layout.region(table), mapper));
    }
  }

  /**
   * Lays out the tables. Neither the card nor memory is touched.
   *
   * @param limits what QUERY_DEV_LIM answered
   * @throws IllegalArgumentException when the limits contradict each other
   */
  public static IcmManager create(
      PciFunction function,
      CommandInterface commands,
      HardwareProfile profile,
      DeviceLimits limits) {
    return new IcmManager(
        profile, new IcmLayout(profile, limits), new ChunkMapper(function, commands, profile));
  }

  /** Where the tables lie, for INIT_HCA. */
  public InitHca initHca() {
    return layout.initHca();
  }

  /**
   * Tells that the card has taken INIT_HCA: from now on it knows what a MAP_ICM means. Maps what
   * must be mapped before any traffic.
   *
   * @throws org.hghca.vfio.VfioException {@code NO_MEMORY} when there is no DMA memory left
   * @throws org.hghca.mailbox.CommandException when the card refuses the mapping
   * @throws org.hghca.mailbox.DeviceFatalException when it does not answer
   */
  public void activate() {
    mapper.activate();
    if (profile.mptMappedWhole()) {
      tables.get(IcmTable.MPT).mapWhole();
    }
    if (profile.mttMappedWhole()) {
      tables.get(IcmTable.MTT).mapWhole();
    }
  }

  /** How many entries a table has; indices are below it. */
  public long capacity(IcmTable table) {
    return tables.get(table).entries();
  }

  /**
   * Backs entries of a table with memory, where there is none yet, until the range is closed. A
   * range must be open whenever a command or the card's work uses one of its entries.
   *
   * <p>When it fails, no range is reserved. Chunks mapped for it are unmapped again where the card
   * allows that, else they stay for the next range.
   *
   * @param firstIndex index of the first entry
   * @param count how many, at least 1
   * @throws IndexOutOfBoundsException when the range is not within {@link #capacity}
   * @throws IllegalStateException before {@link #activate} or after {@link #close}
   * @throws org.hghca.vfio.VfioException {@code NO_MEMORY} when there is no DMA memory left
   * @throws org.hghca.mailbox.CommandException when the card refuses the mapping
   * @throws org.hghca.mailbox.DeviceFatalException when it does not answer
   */
  public IcmRange reserve(IcmTable table, long firstIndex, long count) {
    return tables.get(table).reserve(firstIndex, count);
  }

  /** How much of a table is in use. */
  public IcmUsage usage(IcmTable table) {
    return tables.get(table).usage();
  }

  /** How much of each table is in use. */
  public List<IcmUsage> usage() {
    return tables.values().stream().map(TableMemory::usage).toList();
  }

  /**
   * Frees all memory without telling the card, which must not be able to reach it any more: after
   * CLOSE_HCA, bus mastering off and a reset. Ranges that are open become void. Closing twice does
   * nothing.
   */
  @Override
  public void close() {
    tables.values().forEach(TableMemory::close);
    mapper.close();
  }
}
