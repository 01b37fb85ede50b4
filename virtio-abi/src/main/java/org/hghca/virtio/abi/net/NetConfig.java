package org.hghca.virtio.abi.net;

import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/**
 * Configuration of the network device: "Device configuration layout". A field keeps its offset when
 * the feature that makes it valid is absent.
 */
public final class NetConfig {
  /** Bytes of these fields. What follows is at different places in different dialects. */
  public static final int SIZE = 24;

  /** MAC address, in the order of the wire, with {@link NetFeature#MAC}. */
  public static final Bytes MAC = new Bytes("mac", 0, 6);

  /** {@link #STATUS_LINK_UP}, with {@link NetFeature#STATUS}. */
  public static final Field STATUS = Field.le16("status", 6);

  /** Pairs of receive and transmit queues, with {@link NetFeature#MQ} or RSS. */
  public static final Field MAX_PAIRS = Field.le16("max_virtqueue_pairs", 8);

  /** Largest IP packet in bytes, 68 to 65535, with {@link NetFeature#MTU}. */
  public static final Field MTU = Field.le16("mtu", 10);

  /** In Mbit/s, with {@link NetFeature#SPEED_DUPLEX}; FFFFFFFFh if unknown. */
  public static final Field SPEED = Field.le32("speed", 12);

  /** 1 for full duplex, with {@link NetFeature#SPEED_DUPLEX}. */
  public static final Field DUPLEX = Field.u8("duplex", 16);

  /** Bytes of the largest hash key, with {@link NetFeature#RSS}. */
  public static final Field RSS_KEY = Field.u8("rss_max_key_size", 17);

  /** Entries of the largest indirection table, with {@link NetFeature#RSS}. */
  public static final Field RSS_TABLE = Field.le16("rss_max_indirection_table_length", 18);

  /** Mask of hash types, with {@link NetFeature#RSS}. */
  public static final Field HASH_TYPES = Field.le32("supported_hash_types", 20);

  /** Of the status: the link is up. */
  public static final int STATUS_LINK_UP = 1;

  private NetConfig() {}
}
