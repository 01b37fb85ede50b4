package org.hghca.model;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.testing.ForwardingDevice;

/** A software HCA whose accesses to host memory are observed: thread and number of bytes. */
final class Tap {
  /** Called before an access to host memory, or an interrupt. */
  interface Hook {
    void before(String access, long bytes);
  }

  final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  final AtomicLong bytesRead = new AtomicLong();

  /** Of the calling thread alone. */
  final ThreadLocal<long[]> readHere = ThreadLocal.withInitial(() -> new long[1]);

  volatile Hook hook = (access, bytes) -> {};
  private final boolean mayWait;

  private Tap(boolean mayWait) {
    this.mayWait = mayWait;
  }

  /** Taps an HCA with memory of this process. */
  static Tap here() {
    return new Tap(false);
  }

  /** Taps an HCA whose memory counts as another process's. */
  static Tap elsewhere() {
    return new Tap(true);
  }

  Host open(String locator) {
    Locator parsed = Locator.parse(locator);
    SoftwareHca hca = ModelProvider.plugIn(parsed);
    EmulatedFunction tapped =
        new ForwardingDevice(hca) {
          @Override
          public void attach(DeviceBus bus) {
            super.attach(over(bus));
          }
        };
    return new Host(InProcessFunction.connect(parsed, tapped));
  }

  private DeviceBus over(DeviceBus bus) {
    return new DeviceBus() {
      @Override
      public boolean read(long iova, MemorySegment destination, long offset, long length) {
        threads.add(Thread.currentThread());
        hook.before("read", length);
        bytesRead.addAndGet(length);
        readHere.get()[0] += length;
        return bus.read(iova, destination, offset, length);
      }

      @Override
      public boolean write(long iova, MemorySegment source, long offset, long length) {
        threads.add(Thread.currentThread());
        hook.before("write", length);
        return bus.write(iova, source, offset, length);
      }

      @Override
      public void raise(int vector) {
        hook.before("raise", vector);
        bus.raise(vector);
      }

      @Override
      public boolean mayWait() {
        return mayWait;
      }
    };
  }
}
