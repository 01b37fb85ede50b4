package org.hghca.driver;

import java.util.concurrent.locks.LockSupport;

/** A thread that works for a device. Whoever owns it tells it to end, and waits for that. */
final class DeviceThread {
  private final Thread thread;

  /**
   * A thread that is not started.
   *
   * @param role what it is for, in its name
   * @param device of which device, in its name
   */
  DeviceThread(String role, String device, Runnable work) {
    this.thread =
        Thread.ofPlatform().daemon().name("hghca-%s-%s".formatted(role, device)).unstarted(work);
  }

  void start() {
    thread.start();
  }

  /** Ends its park, or the next one. Under any lock. */
  void unpark() {
    LockSupport.unpark(thread);
  }

  /** Waits until it has ended; an interrupt does not end the wait and stays pending. */
  void join() {
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
