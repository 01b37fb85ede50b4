package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.DeviceMemory;
import org.hghca.vfio.dma.DmaSpace;
import org.hghca.vfio.linux.MemoryFile;
import org.hghca.vfio.user.UserStructures.DeviceInfo;
import org.hghca.vfio.user.UserStructures.RegionInfo;

/**
 * A function that another process serves over a socket.
 *
 * <p>It is gone when the server exits, does not reply in time, or violates the protocol: then
 * registers and configuration space read all ones, writes are dropped, and every other call throws
 * {@code CLOSED} with the reason. Accesses to mapped registers do not detect this; their memory
 * keeps its content.
 */
final class UserFunction implements PciFunction {
  private static final ConditionLog LOG = ConditionLog.of(UserFunction.class);

  private static final int BARS = 6;

  private record Description(int flags, int regions, int interrupts) {}

  private final SystemCalls system;
  private final Locator locator;
  private final MemoryService service = new MemoryService();
  private final UserConnection connection;
  private final UserConfiguration configuration;
  private final MemorySource source;
  private final DeviceMemory memory;
  private final Arena registers = Arena.ofShared();
  private final List<MmioRegion> regions = new ArrayList<>();
  private ServerLimits limits;
  private Description info;
  private UserInterrupts interrupts;
  private boolean closed;

  private UserFunction(SystemCalls system, Locator locator, UserOptions options) {
    this.system = system;
    this.locator = locator;
    UserChannel channel = UserChannel.connect(system, locator.name(), options.limit());
    connection = new UserConnection(system, channel, locator.toString(), options.limit(), service);
    configuration = new UserConfiguration(connection);
    source = new MemoryFile(system);
    memory = new DeviceMemory(locator, new DmaSpace(new UserPages(connection, service)), source);
  }

  /**
   * Connects to a server and queries its function.
   *
   * @throws VfioException saying why the function cannot be used
   */
  static UserFunction open(SystemCalls system, Locator locator) {
    UserOptions options = UserOptions.of(locator);
    UserFunction function = new UserFunction(system, locator, options);
    try {
      function.ask(options);
      return function;
    } catch (RuntimeException e) {
      function.close();
      throw e;
    }
  }

  private void ask(UserOptions options) {
    try {
      limits = ServerLimits.negotiate(connection);
    } catch (VfioException e) {
      if (e.reason() != Reason.CLOSED) {
        throw e;
      }
      throw new VfioException(
          Reason.BUSY,
          e.getMessage()
              + "; a server serves one client at a time: end the other, or serve another socket",
          e);
    }
    info = deviceInfo();
    if ((info.flags & DeviceInfo.FLAG_PCI) == 0 || info.regions <= RegionInfo.CONFIGURATION) {
      throw new VfioException(
          Reason.UNSUPPORTED,
          "what is served at %s is not a PCI function: flags 0x%x, %d regions"
              .formatted(locator.name(), info.flags, info.regions));
    }
    for (int bar = 0; bar < BARS; bar++) {
      regions.add(UserRegion.open(system, connection, bar, options.posted(), registers));
    }
    if (options.posted() && options.ring() && limits.registerRing()) {
      RegisterRingSender.open(system, connection).ifPresent(connection::postThrough);
    }
  }

  private Description deviceInfo() {
    return connection.call(
        UserCommand.DEVICE_GET_INFO,
        DeviceInfo.BYTES,
        message -> {
          message.putInt(DeviceInfo.ARGSZ, DeviceInfo.BYTES);
          message.putInt(DeviceInfo.FLAGS, 0);
          message.putInt(DeviceInfo.REGIONS, 0);
          message.putInt(DeviceInfo.INTERRUPTS, 0);
        },
        reply -> {
          UserConnection.checkReply(reply, DeviceInfo.BYTES);
          return new Description(
              reply.getInt(DeviceInfo.FLAGS),
              reply.getInt(DeviceInfo.REGIONS),
              reply.getInt(DeviceInfo.INTERRUPTS));
        });
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    checkNotClosed();
    return configuration;
  }

  @Override
  public MmioRegion region(int bar) {
    checkNotClosed();
    MmioRegion region = bar >= 0 && bar < BARS ? regions.get(bar) : null;
    if (region == null || region.size() == 0) {
      throw new VfioException(Reason.INVALID, "%s has no BAR%d".formatted(locator, bar));
    }
    return region;
  }

  @Override
  public DmaMapping allocate(long bytes) {
    connection.checkOpen();
    return memory.allocate(bytes);
  }

  @Override
  public DmaMapping map(MemorySegment segment, DmaAccess access) {
    connection.checkOpen();
    return memory.map(segment, access);
  }

  @Override
  public void checkPresent(MemorySegment segment, DmaAccess access) {
    DeviceMemory.checkPresent(segment, access);
  }

  @Override
  public MemorySource memory() {
    return source;
  }

  /** The first call connects them to the server. */
  @Override
  public synchronized Interrupts interrupts() {
    connection.checkOpen();
    if (interrupts == null) {
      interrupts = UserInterrupts.open(system, connection, configuration, limits, info.interrupts);
    }
    return interrupts;
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return service.faults();
  }

  @Override
  public long dmaFaultCount() {
    return service.faultCount();
  }

  @Override
  public long mappedBytes() {
    return memory.mappedBytes();
  }

  @Override
  public boolean canReset() {
    return (info.flags & DeviceInfo.FLAG_RESET) != 0;
  }

  @Override
  public synchronized void reset() {
    connection.checkOpen();
    if (!canReset()) {
      throw new VfioException(Reason.UNSUPPORTED, "%s has no reset".formatted(locator));
    }
    connection.call(UserCommand.DEVICE_RESET, 0, message -> {}, reply -> true);
    if (interrupts != null) {
      interrupts.arm();
    }
  }

  private synchronized void checkNotClosed() {
    if (closed) {
      connection.checkOpen();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      if (info != null) {
        configuration.busMaster(false);
      }
      memory.close();
    } catch (RuntimeException e) {
      LOG.warn(About.device(locator), "the function was not stopped: {}", e.getMessage());
    }
    connection.close();
    synchronized (this) {
      if (interrupts != null) {
        interrupts.close();
      }
    }
    registers.close();
  }
}
