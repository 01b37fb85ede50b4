package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.roce.Dialect;

/** The configuration of the network device; the driver only reads it. Thread-safe. */
final class NetConfiguration {
  private final MemorySegment bytes;

  /**
   * @param mtu bytes of the longest IP packet
   * @param roce the dialect of the RoCE queues, if there are any
   */
  NetConfiguration(long mac, int mtu, Optional<Dialect> roce) {
    bytes = Arena.ofAuto().allocate(size(roce), 8);
    roce.ifPresent(
        dialect -> {
          dialect.maxQps().set(bytes, 0, RoceLimits.QPS);
          dialect.maxCqs().set(bytes, 0, RoceLimits.CQS);
        });
    mac(mac);
    NetConfig.MAX_PAIRS.set(bytes, 0, 1);
    NetConfig.MTU.set(bytes, 0, mtu);
  }

  /** Bytes of the configuration. */
  static int size(Optional<Dialect> roce) {
    return roce.map(dialect -> Math.max(NetConfig.SIZE, dialect.configSize()))
        .orElse(NetConfig.SIZE);
  }

  synchronized void mac(long mac) {
    for (int i = 0; i < NetConfig.MAC.length(); i++) {
      bytes.set(
          ValueLayout.JAVA_BYTE, NetConfig.MAC.offset() + (long) i, (byte) (mac >> 40 - 8 * i));
    }
  }

  /** Sets the state of the link; returns whether it has changed. */
  synchronized boolean link(boolean up) {
    int status = up ? NetConfig.STATUS_LINK_UP : 0;
    boolean changed = NetConfig.STATUS.get(bytes, 0) != status;
    NetConfig.STATUS.set(bytes, 0, status);
    return changed;
  }

  /** Bytes behind the end read as 0. */
  synchronized long read(long offset, int width) {
    long value = 0;
    for (int i = 0; i < width && offset + i < bytes.byteSize(); i++) {
      value |= (bytes.get(ValueLayout.JAVA_BYTE, offset + i) & 0xffL) << 8 * i;
    }
    return value;
  }
}
