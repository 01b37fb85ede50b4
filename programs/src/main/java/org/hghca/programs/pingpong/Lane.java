package org.hghca.programs.pingpong;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemorySlice;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrapMemory;

/** A queue pair, its peer, and which of its two requests have not completed. */
final class Lane {
  /** The {@code wr_id} of receives and of sends, and their bits in what is pending. */
  static final int RECEIVE = 1;

  static final int SEND = 2;

  private static final int QKEY = 0x1111_1111;

  private final QueuePair queuePair;
  private final QpType type;
  private final String name;
  private final int psn;
  private final SendRequest request = new SendRequest(1).wrId(SEND);
  private int pending = RECEIVE;

  /**
   * A queue pair without a peer.
   *
   * @param name in lines about failures
   * @param message what it sends
   */
  Lane(QueuePair queuePair, QpType type, String name, MemorySlice message) {
    this.queuePair = queuePair;
    this.type = type;
    this.name = name;
    psn = psn(queuePair);
    request.send().sge(message).signaled();
    if (queuePair.capabilities().maxInline() >= message.length()) {
      request.inline();
    }
  }

  /** A random PSN: any of them, or a low one where PSNs do not wrap. */
  private static int psn(QueuePair queuePair) {
    boolean low = queuePair.protectionDomain().context().queryDevice().has(DeviceQuirk.NO_PSN_WRAP);
    return ThreadLocalRandom.current().nextInt(low ? 1 << 16 : 1 << 24);
  }

  QueuePair queuePair() {
    return queuePair;
  }

  QpEndpoint address(int lid, Gid gid) {
    Optional<WrapMemory> offer =
        StepFailedException.make(
            "Couldn't offer memory for the PSN wrap of the peer of " + name,
            queuePair::offerWrapMemory);
    return new QpEndpoint(lid, queuePair.number(), psn, gid, offer);
  }

  /** Brings the queue pair to RTS. Its peer has a GID if the GID's second half is not 0. */
  void connect(ConnectionOptions options, QpEndpoint peer) {
    Gid gid = peer.gid().interfaceId() == 0 ? Gid.NONE : peer.gid();
    QpEndpoint to = new QpEndpoint(peer.lid(), peer.qpNumber(), peer.psn(), gid);
    StepFailedException.run(
        "Failed to modify %s to RTR".formatted(name),
        () -> {
          peer.wrapMemory().ifPresent(queuePair::takeWrapMemory);
          queuePair.modify(options.toRtr(type, to));
        });
    StepFailedException.run(
        "Failed to modify %s to RTS".formatted(name),
        () -> queuePair.modify(options.toRts(type, psn)));
  }

  /** Says where datagrams go to, and returns the handle, which is to be closed. */
  AddressHandle addressDatagrams(
      ProtectionDomain domain, ConnectionOptions options, QpEndpoint peer) {
    AddressVector vector =
        new AddressVector(
            peer.gid().interfaceId() == 0 ? Gid.NONE : peer.gid(),
            options.gidIndex(),
            0,
            options.hopLimit(),
            0,
            options.serviceLevel(),
            options.port());
    AddressHandle handle =
        StepFailedException.make("Failed to create AH", () -> domain.createAddressHandle(vector));
    request.to(handle, peer.qpNumber(), QKEY);
    return handle;
  }

  /** A request with this {@code wr_id} has completed. */
  void completed(int id) {
    pending &= ~id;
  }

  boolean isIdle() {
    return pending == 0;
  }

  void send() {
    StepFailedException.run("Couldn't post send", () -> queuePair.postSend(request));
    pending = RECEIVE | SEND;
  }
}
