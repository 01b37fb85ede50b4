package org.hghca.provider;

import java.util.concurrent.locks.LockSupport;

/** A thread that works for a device. Its owner stops it and waits for its end. */
public final class DeviceThread {
  private final Thread thread;

  /**
   * A thread that is not started.
   *
   * @param role its role, in its name
   * @param device its device, in its name
   */
  public DeviceThread(String role, String device, Runnable work) {
    this.thread =
        Thread.ofPlatform().daemon().name("hghca-%s-%s".formatted(role, device)).unstarted(work);
  }

  public void start() {
    thread.start();
  }

  /** Ends its park, or the next one. Under any lock. */
  public void unpark() {
    LockSupport.unpark(thread);
  }

  /** Waits until it has ended; an interrupt does not end the wait and stays pending. */
  public void join() {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
