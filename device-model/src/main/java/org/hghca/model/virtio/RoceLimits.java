package org.hghca.model.virtio;

import org.hghca.virtio.abi.roce.QueuePlan;

/** What the RoCE half of a card has, at most. */
public final class RoceLimits {
  static final int CQS = 32;
  static final int QPS = 128;

  /** Where the queues are. */
  public static final QueuePlan QUEUES = new QueuePlan(1, CQS, QPS);

  /** Entries of a send and of a receive queue, and of a CQ. */
  static final int ENTRIES = 1024;

  static final int COMPLETIONS = 4096;

  /** Buffers of one entry. */
  static final int BUFFERS = 256;

  static final int PDS = 1024;
  static final int REGIONS = 4096;
  static final int HANDLES = 1024;
  static final int GIDS = 16;

  /** Pieces of a request. */
  static final int PIECES = 16;

  /** READs that a queue pair has outstanding, and answers at once. */
  static final int READS = 16;

  /** Bytes of the largest region, and pages of all regions together. */
  static final long REGION_BYTES = 1L << 30;

  static final long PAGES = 1L << 20;

  /** Bytes of the longest message. */
  static final long MESSAGE_BYTES = 1L << 31;

  /** The time that an answer takes: 4.096 us times two to this power. */
  static final int ACK_DELAY = 15;

  private RoceLimits() {}
}
