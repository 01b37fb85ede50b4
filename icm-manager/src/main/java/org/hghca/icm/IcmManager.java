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
 * The interconnect context memory of a card: lays out its tables, and backs the entries in use with
 * host memory. Thread-safe.
 *
 * <p>Used in this order: {@link #initHca} is sent with INIT_HCA, {@link #activate} follows, and
 * then ranges may be reserved. The document leaves the order of INIT_HCA and MAP_ICM open; not
 * every card does.
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
   * Lays out the tables. This does not access the card or allocate memory.
   *
   * @param limits the result of QUERY_DEV_LIM
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

  /** The positions of the tables, for INIT_HCA. */
  public InitHca initHca() {
    return layout.initHca();
  }

  /**
   * Reports that the card has executed INIT_HCA and accepts MAP_ICM from now on. Maps all tables
   * that must be mapped before any traffic.
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

  /** Number of entries of a table; indices are below it. */
  public long capacity(IcmTable table) {
    return tables.get(table).entries();
  }

  /**
   * Backs entries of a table with memory, if they have none yet, until the range is closed. The
   * range must be open while a command or the card uses one of its entries.
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
   * Frees all memory without a command to the card, which must no longer be able to access it: call
   * it after CLOSE_HCA, bus mastering off and a reset. Open ranges become invalid. Closing twice
   * does nothing.
   */
  @Override
  public void close() {
    tables.values().forEach(TableMemory::close);
    mapper.close();
  }
}
