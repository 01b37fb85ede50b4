package org.example.hca;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.ConfigurationRegisters;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.LinkAddress;

/**
 * The layer between hghca and a simulator of the card: configuration space, which a simulator of
 * the card's own logic lacks, and its effects.
 */
final class ExampleFunction implements EmulatedFunction {
  private static final long BAR0_BYTES = 1 << 20;
  private static final long BAR2_BYTES = 8 << 20;
  private static final long NOBODY = -1L;

  private final EmulatedFunction simulator;
  private final ConfigurationRegisters configuration;
  private final MasteredBus bus = new MasteredBus();

  ExampleFunction(EmulatedFunction simulator, LinkAddress address) {
    this.simulator = simulator;
    this.configuration =
        ConfigurationRegisters.of(0x1234, 0x0001, 0x02_0700)
            .region(0, BAR0_BYTES)
            .region(2, BAR2_BYTES)
            .serialNumber(address.mac())
            .onBusMaster(this::busMaster)
            .onReset(this::reset)
            .build();
  }

  private void busMaster(boolean on) {
    bus.master(on);
    // The software HCA has a command register of its own; with RTL this is a wire.
    simulator.writeConfiguration(
        ConfigurationSpace.COMMAND, 2, on ? ConfigurationSpace.COMMAND_BUS_MASTER : 0);
  }

  @Override
  public void attach(DeviceBus bus) {
    this.bus.host = bus;
    simulator.attach(this.bus);
  }

  /** Host memory, as long as the driver lets the card reach it. */
  private static final class MasteredBus implements DeviceBus {
    private DeviceBus host;
    private boolean mastered;

    /** When this returns, no access is in progress that is no longer allowed. */
    synchronized void master(boolean on) {
      mastered = on;
    }

    @Override
    public synchronized boolean read(
        long iova, MemorySegment destination, long offset, long length) {
      return mastered && host.read(iova, destination, offset, length);
    }

    @Override
    public synchronized boolean write(long iova, MemorySegment source, long offset, long length) {
      return mastered && host.write(iova, source, offset, length);
    }

    @Override
    public void raise(int vector) {
      host.raise(vector);
    }
  }

  @Override
  public long regionSize(int bar) {
    return switch (bar) {
      case 0 -> BAR0_BYTES;
      case 2 -> BAR2_BYTES;
      default -> 0;
    };
  }

  /** The driver waits here: for a read of a simulator as long as its clock needs. */
  @Override
  public long read(int bar, long offset, int width) {
    return decodes() ? simulator.read(bar, offset, width) : NOBODY;
  }

  /** Returns at once; the effects of the write happen on the simulator's thread. */
  @Override
  public void write(int bar, long offset, int width, long value) {
    if (decodes()) {
      simulator.write(bar, offset, width, value);
    }
  }

  private boolean decodes() {
    int command = configuration.read(ConfigurationSpace.COMMAND, 2);
    return (command & ConfigurationSpace.COMMAND_MEMORY_SPACE) != 0;
  }

  @Override
  public int readConfiguration(int offset, int width) {
    return configuration.read(offset, width);
  }

  @Override
  public void writeConfiguration(int offset, int width, int value) {
    configuration.write(offset, width, value);
  }

  /** Without interrupts the driver polls its event queues itself. */
  @Override
  public int interruptVectors() {
    return 0;
  }

  @Override
  public boolean isInline() {
    return simulator.isInline();
  }

  @Override
  public boolean canReset() {
    return true;
  }

  /** When this returns, no DMA is in progress and the card has been reset. */
  @Override
  public void reset() {
    configuration.reset(); // disables bus mastering first
    simulator.reset();
  }

  @Override
  public void close() {
    simulator.close();
  }
}
