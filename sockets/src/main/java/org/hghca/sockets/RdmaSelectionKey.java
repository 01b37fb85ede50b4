package org.hghca.sockets;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;

/** A channel in a selector of ours. */
final class RdmaSelectionKey extends AbstractSelectionKey {
  private final RdmaSelector selector;
  private final AbstractSelectableChannel channel;
  private final Registered registered;
  private volatile int interest;
  private volatile int ready;

  /** Its key in the platform's selector, while the platform has a part in the channel. */
  private SelectionKey platform;

  /** Whether it waits among the selector's changed keys; {@link #next} is the one behind it. */
  final AtomicBoolean queued = new AtomicBoolean();

  RdmaSelectionKey next;

  /** Whether the selector looks at it with each selection. */
  boolean hot;

  RdmaSelectionKey(RdmaSelector selector, AbstractSelectableChannel channel, int interest) {
    this.selector = selector;
    this.channel = channel;
    this.registered = (Registered) channel;
    this.interest = interest;
  }

  @Override
  public SelectableChannel channel() {
    return channel;
  }

  @Override
  public RdmaSelector selector() {
    return selector;
  }

  @Override
  public int interestOps() {
    ensureValid();
    return interest;
  }

  @Override
  public SelectionKey interestOps(int ops) {
    ensureValid();
    if ((ops & ~channel.validOps()) != 0) {
      throw new IllegalArgumentException();
    }
    synchronized (this) {
      interest = ops;
      if (platform != null && platform.isValid()) {
        platform.interestOps(ops);
      }
    }
    selector.offer(this);
    return this;
  }

  @Override
  public int readyOps() {
    ensureValid();
    return ready;
  }

  private void ensureValid() {
    if (!isValid()) {
      throw new CancelledKeyException();
    }
  }

  Registrations registrations() {
    return registered.registrations();
  }

  /** Operations of interest that are ready without the platform. */
  int readyNow() {
    return registered.readyOps() & interest;
  }

  /**
   * Takes what has been found ready into the ready set, which begins anew unless the key is
   * selected.
   *
   * @return whether the ready set is another than before
   */
  boolean found(int ops, boolean selected) {
    int now = selected ? ready | ops : ops;
    boolean other = now != ready || !selected;
    ready = now;
    return other;
  }

  /** The selector looks at it, and wakes for it. */
  void changed() {
    selector.offer(this);
    selector.wakeIfAsleep();
  }

  /** Joins the channel's platform side to the platform's selector. */
  synchronized void follow(SelectableChannel side) {
    if (isValid()) {
      try {
        platform = side.register(selector.platform(), interest, this);
      } catch (ClosedChannelException _) {
        platform = null; // and so this key is cancelled
      }
    }
  }

  /** Ends its part in the platform's selector; true if it had one. */
  synchronized boolean leavePlatform() {
    if (platform == null) {
      return false;
    }
    platform.cancel();
    return true;
  }
}
