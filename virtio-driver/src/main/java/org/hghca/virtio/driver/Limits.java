package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.virtio.abi.roce.QueryDevice;
import org.hghca.virtio.abi.roce.QueryPort;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.SendRequest;

/**
 * What a device takes, and what the driver uses of it. Numbers of the device are unsigned; those
 * beyond an int count as the largest int.
 *
 * @param maxQp queue pairs for applications: 0 and 1 are never theirs
 * @param maxQpWr requests of a queue
 * @param maxSendSge elements of a send request
 * @param maxReceiveSge elements of a receive request
 * @param maxSgeRead elements of an RDMA READ
 * @param maxCq completion queues
 * @param maxCqe entries of a completion queue
 * @param maxMrSize bytes of a memory region, unsigned
 * @param maxMr memory regions
 * @param maxPd protection domains
 * @param maxAh address handles
 * @param readsAnswered RDMA READs that a queue pair answers at once
 * @param readsOutstanding RDMA READs that a queue pair has outstanding
 * @param ackDelay exponent of the time to answer
 * @param hardwareVersion as the device says
 * @param gids entries of the GID table
 * @param maxMessage bytes of a message, unsigned
 */
record Limits(
    int maxQp,
    int maxQpWr,
    int maxSendSge,
    int maxReceiveSge,
    int maxSgeRead,
    int maxCq,
    int maxCqe,
    long maxMrSize,
    int maxMr,
    int maxPd,
    int maxAh,
    int readsAnswered,
    int readsOutstanding,
    int ackDelay,
    int hardwareVersion,
    int gids,
    long maxMessage) {
  /** Bytes of inline data that a request can hold. */
  static final int MAX_INLINE = SendRequest.INLINE_DATA.length();

  /** Numbers of queue pairs that applications never get: subnet management, general services. */
  private static final int SPECIAL_QPS = 2;

  /** Requests of a queue, of which the driver allocates memory for the largest queue once. */
  private static final int LARGEST_WORK_QUEUE = 1024;

  private static final int LARGEST_COMPLETION_QUEUE = 4096;

  /** Elements of a request; a slot of a send queue with so many has 2048 bytes. */
  private static final int MOST_SGE = 32;

  /** The index of a GID in a request has eight bits. */
  private static final int MOST_GIDS = 256;

  /**
   * The limits that a device answers.
   *
   * @param workEntries of the virtqueue of a queue
   * @param completionEntries of the virtqueue of a completion queue
   */
  static Limits of(
      QueuePlan plan,
      MemorySegment device,
      MemorySegment port,
      int workEntries,
      int completionEntries) {
    return new Limits(
        Math.max(0, plan.qps() - SPECIAL_QPS),
        number(QueryDevice.MAX_QP_WR.getLong(device, 0), Math.min(workEntries, LARGEST_WORK_QUEUE)),
        number(QueryDevice.MAX_SEND_SGE.getLong(device, 0), MOST_SGE),
        number(QueryDevice.MAX_RECV_SGE.getLong(device, 0), MOST_SGE),
        number(QueryDevice.MAX_SGE_RD.getLong(device, 0), MOST_SGE),
        plan.cqs(),
        number(
            QueryDevice.MAX_CQE.getLong(device, 0),
            Math.min(completionEntries, LARGEST_COMPLETION_QUEUE)),
        QueryDevice.MAX_MR_SIZE.getLong(device, 0),
        number(QueryDevice.MAX_MR.getLong(device, 0), Integer.MAX_VALUE),
        number(QueryDevice.MAX_PD.getLong(device, 0), Integer.MAX_VALUE),
        number(QueryDevice.MAX_AH.getLong(device, 0), Integer.MAX_VALUE),
        number(QueryDevice.MAX_QP_RD_ATOM.getLong(device, 0), 255),
        number(QueryDevice.MAX_QP_INIT_RD_ATOM.getLong(device, 0), 255),
        QueryDevice.LOCAL_CA_ACK_DELAY.get(device, 0),
        QueryDevice.HW_VER.get(device, 0),
        number(QueryPort.GID_TBL_LEN.getLong(port, 0), MOST_GIDS),
        QueryPort.MAX_MSG_SZ.getLong(port, 0));
  }

  private static int number(long value, int most) {
    return (int) Math.min(value, most);
  }
}
