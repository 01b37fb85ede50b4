package org.hghca.model;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.linux.SpinMutex;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.DmaWindow;

/**
 * The bus as the card of an HCA sees it: memory accesses go to the host, interrupts wait until
 * {@link #deliver}, which is called when no lock is held. The interrupted thread may need that
 * lock.
 */
final class CardBus implements DeviceBus {
  private final AtomicLong raised = new AtomicLong();

  /** Held while raised vectors are taken and signaled. */
  private final SpinMutex delivery = new SpinMutex();

  private DeviceBus host;

  /** Plugs the card in; called once, before any access. */
  void attach(DeviceBus bus) {
    host = bus;
  }

  @Override
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    return host.read(iova, destination, offset, length);
  }

  @Override
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    return host.write(iova, source, offset, length);
  }

  @Override
  public boolean mayWait() {
    return host == null || host.mayWait();
  }

  @Override
  public long beginRun() {
    return host == null ? NO_WINDOWS : host.beginRun();
  }

  @Override
  public void endRun() {
    host.endRun();
  }

  @Override
  public DmaWindow window(long iova) {
    return host.window(iova);
  }

  /** Marks a vector as raised, 0 to 63. */
  @Override
  public void raise(int vector) {
    raised.getAndUpdate(vectors -> vectors | 1L << vector);
  }

  /**
   * Signals the host the vectors that the card has raised since the last call.
   *
   * @param here whether the calling thread holds no lock of a driver, and may handle them
   */
  void deliver(boolean here) {
    if (raised.get() == 0) {
      return;
    }
    if (!here) {
      raiseAll();
      return;
    }
    for (long left = take(); left != 0; left &= left - 1) {
      host.raiseHere(Long.numberOfTrailingZeros(left));
    }
  }

  private void raiseAll() {
    delivery.lock();
    try {
      for (long left = raised.getAndSet(0); left != 0; left &= left - 1) {
        host.raise(Long.numberOfTrailingZeros(left));
      }
    } finally {
      delivery.unlock();
    }
  }

  private long take() {
    delivery.lock();
    try {
      return raised.getAndSet(0);
    } finally {
      delivery.unlock();
    }
  }

  /** Drops raised vectors, except for those that a thread is handling. */
  void forget() {
    delivery.lock();
    try {
      raised.set(0);
    } finally {
      delivery.unlock();
    }
  }
}
