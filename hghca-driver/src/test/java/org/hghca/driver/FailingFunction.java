package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/** A software HCA that fails at one command or one allocation, and counts what is left mapped. */
final class FailingFunction implements PciFunction {
  private static final int GO = 1 << 23;
  private static final int STATUS_BAD_PARAM = 3;

  private final PciFunction function;
  private final Locator locator;
  private final int dword6;
  private final Set<DmaMapping> mappings = new HashSet<>();
  private DmaMapping newest;
  private int commandsUntilFailure = Integer.MAX_VALUE;
  private int allocationsUntilFailure = Integer.MAX_VALUE;
  private boolean answerFailure;
  private boolean resetFails;
  private boolean vanished;
  private Runnable onCommand = () -> {};
  private int opcode;
  private boolean closed;
  private int mappingsAtClose;
  private boolean busMasterAtClose;

  FailingFunction(PciFunction function) {
    this(function, function.locator());
  }

  FailingFunction(PciFunction function, Locator locator) {
    this.function = function;
    this.locator = locator;
    String profile = function.locator().parameter("profile").orElse("s");
    this.dword6 = HardwareProfile.byName(profile).hcrBase() + 0x18;
  }

  /** Makes a command be refused by the card, after some that are not. */
  void failCommand(int after) {
    commandsUntilFailure = after;
  }

  /** Makes an allocation fail, after some that do not. */
  void failAllocation(int after) {
    allocationsUntilFailure = after;
  }

  /** Makes every reset from now on fail. */
  void failReset() {
    resetFails = true;
  }

  /** Takes the card out of its slot: its registers read all ones. */
  void vanish() {
    vanished = true;
  }

  /** Does something while the card works at each command. */
  void onCommand(Runnable action) {
    onCommand = action;
  }

  /** The inbox of the command that is being given. */
  MemorySegment inbox() {
    MmioRegion registers = function.region(0);
    int hcr = dword6 - 0x18;
    long address = (long) registers.readInt(hcr) << 32 | registers.readInt(hcr + 4) & 0xffff_ffffL;
    return mappings.stream()
        .filter(mapping -> mapping.iova(0) == address)
        .map(DmaMapping::segment)
        .findFirst()
        .orElse(MemorySegment.NULL);
  }

  /** The opcode of the command that is being given. */
  int opcode() {
    return opcode;
  }

  /** The memory that was allocated or mapped last. */
  MemorySegment newestMemory() {
    return newest.segment();
  }

  boolean isClosed() {
    return closed;
  }

  int mappings() {
    return mappings.size();
  }

  int mappingsAtClose() {
    return mappingsAtClose;
  }

  boolean busMasterAtClose() {
    return busMasterAtClose;
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    return function.configuration();
  }

  @Override
  public MmioRegion region(int bar) {
    MmioRegion region = function.region(bar);
    return bar != 0
        ? region
        : MmioRegion.trapped(
            region.size(),
            new MmioHandler() {
              @Override
              public long read(long offset, int width) {
                int value = vanished ? -1 : region.readInt(offset);
                return offset == dword6 && answerFailure
                    ? value & 0xff_ffff | STATUS_BAD_PARAM << 24
                    : value;
              }

              @Override
              public void write(long offset, int width, long value) {
                if (offset == dword6 && (value & GO) != 0) {
                  opcode = (int) value & 0xfff;
                  onCommand.run();
                  answerFailure = commandsUntilFailure-- == 0;
                  if (answerFailure) {
                    return;
                  }
                }
                region.writeInt(offset, (int) value);
              }
            });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    if (allocationsUntilFailure-- == 0) {
      throw new VfioException(VfioException.Reason.NO_MEMORY, "no DMA memory left");
    }
    return track(function.allocate(bytes));
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return track(function.map(memory, access));
  }

  private DmaMapping track(DmaMapping mapping) {
    mappings.add(mapping);
    newest = mapping;
    return new DmaMapping() {
      @Override
      public MemorySegment segment() {
        return mapping.segment();
      }

      @Override
      public long iova(long offset) {
        return mapping.iova(offset);
      }

      @Override
      public DmaAccess access() {
        return mapping.access();
      }

      @Override
      public void close() {
        mappings.remove(mapping);
        mapping.close();
      }
    };
  }

  @Override
  public Interrupts interrupts() {
    return function.interrupts();
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return function.dmaFaults();
  }

  @Override
  public boolean canReset() {
    return function.canReset();
  }

  @Override
  public void reset() {
    if (resetFails) {
      throw new VfioException(VfioException.Reason.UNSUPPORTED, "the reset failed");
    }
    function.reset();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      mappingsAtClose = mappings.size();
      busMasterAtClose =
          (configuration().read(ConfigurationSpace.COMMAND, 2)
                  & ConfigurationSpace.COMMAND_BUS_MASTER)
              != 0;
      function.close();
    }
  }
}
