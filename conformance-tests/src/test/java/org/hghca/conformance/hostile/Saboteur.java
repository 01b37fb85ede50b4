package org.hghca.conformance.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.testing.ForwardingDevice;

/** Sits between a software HCA and its host, and applies a {@link Sabotage}. */
final class Saboteur extends ForwardingDevice {
  private final SoftwareHca hca;
  private volatile Sabotage sabotage;
  private volatile DeviceBus host;
  private volatile InProcessFunction function;
  private volatile int mappingsAtClose = -1;

  /** Addresses of host memory that the device has accessed; the oldest are overwritten. */
  private final long[] touched = new long[1024];

  private int touches;

  Saboteur(SoftwareHca hca, Sabotage sabotage) {
    super(hca);
    this.hca = hca;
    this.sabotage = sabotage;
  }

  /** Applies a sabotage from now on; {@link Sabotage#NONE} ends it. */
  void turn(Sabotage how) {
    sabotage = how;
  }

  /** The correct device inside. */
  SoftwareHca hca() {
    return hca;
  }

  void connected(InProcessFunction to) {
    function = to;
  }

  /** The current number of DMA mappings of the host. */
  int mappings() {
    return function.mappings();
  }

  /** The number of DMA mappings when the host closed the function; -1 while it is open. */
  int mappingsAtClose() {
    return mappingsAtClose;
  }

  /** Raises a vector that the device did not raise. */
  void raise(int vector) {
    host.raise(vector);
  }

  private synchronized void touch(long iova) {
    touched[touches++ & touched.length - 1] = iova;
  }

  /** An address of host memory that the device has accessed; 0 when there is none. */
  synchronized long touched(SplittableRandom random) {
    return touches == 0 ? 0 : touched[random.nextInt(Math.min(touches, touched.length))];
  }

  /** Writes host memory. */
  boolean write(long iova, byte[] bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
      return host.write(iova, source, 0, bytes.length);
    }
  }

  /** Reads host memory; zeros where it is not accessible. */
  MemorySegment read(long iova, long length) {
    MemorySegment bytes = Arena.ofAuto().allocate(length);
    boolean done = host.read(iova, bytes, 0, length);
    return done ? bytes : bytes.fill((byte) 0);
  }

  @Override
  public void attach(DeviceBus bus) {
    host = bus;
    hca.attach(
        new DeviceBus() {
          @Override
          public boolean read(long iova, MemorySegment destination, long offset, long length) {
            touch(iova);
            return bus.read(iova, destination, offset, length)
                && sabotage.dmaRead(destination.asSlice(offset, length));
          }

          @Override
          public boolean write(long iova, MemorySegment source, long offset, long length) {
            touch(iova);
            Sabotage how = sabotage;
            if (how.equals(Sabotage.NONE)) {
              return bus.write(iova, source, offset, length);
            }
            try (Arena arena = Arena.ofConfined()) {
              MemorySegment copy = arena.allocate(length).copyFrom(source.asSlice(offset, length));
              return !how.dmaWrite(iova, copy) || bus.write(iova, copy, 0, length);
            }
          }

          @Override
          public void raise(int vector) {
            for (int times = sabotage.raise(vector); times > 0; times--) {
              bus.raise(vector);
            }
          }
        });
  }

  @Override
  public long read(int bar, long offset, int width) {
    return sabotage.read(bar, offset, width, hca.read(bar, offset, width));
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    if (sabotage.write(bar, offset, width, value)) {
      hca.write(bar, offset, width, value);
    }
  }

  @Override
  public void close() {
    if (mappingsAtClose < 0) {
      mappingsAtClose = function == null ? 0 : function.mappings();
    }
    hca.close();
  }
}
