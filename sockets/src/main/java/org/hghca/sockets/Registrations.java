package org.hghca.sockets;

import java.nio.channels.SelectableChannel;
import java.util.Arrays;

/**
 * The keys of a channel in selectors of ours, and the platform's channel behind it once there is
 * one, which has a key of its own in the platform's selector for each. Thread-safe.
 */
final class Registrations {
  private static final RdmaSelectionKey[] NONE = {};

  private final Registered channel;
  private volatile RdmaSelectionKey[] keys = NONE;
  private SelectableChannel platform;

  Registrations(Registered channel) {
    this.channel = channel;
  }

  synchronized void add(RdmaSelectionKey key) {
    RdmaSelectionKey[] more = Arrays.copyOf(keys, keys.length + 1);
    more[keys.length] = key;
    keys = more;
    if (platform != null) {
      key.follow(platform);
    }
    if (more.length == 1) {
      channel.watch(this::changed);
    }
    key.changed();
  }

  synchronized void remove(RdmaSelectionKey key) {
    keys = Arrays.stream(keys).filter(other -> other != key).toArray(RdmaSelectionKey[]::new);
    if (keys.length == 0) {
      channel.watch(null);
    }
  }

  /** The channel has become one of the platform's, or has one beside its streams. */
  synchronized void follow(SelectableChannel decided) {
    platform = decided;
    for (RdmaSelectionKey key : keys) {
      key.follow(decided);
    }
    changed();
  }

  /** The streams of the channel are others than before. */
  synchronized void renew() {
    if (keys.length > 0) {
      channel.watch(this::changed);
      changed();
    }
  }

  /** What is ready may be other than before. */
  void changed() {
    for (RdmaSelectionKey key : keys) {
      key.changed();
    }
  }

  /** Before the platform's channel blocks: it must have no keys that are valid. */
  void leavePlatform() {
    for (RdmaSelectionKey key : keys) {
      key.leavePlatform();
    }
  }
}
