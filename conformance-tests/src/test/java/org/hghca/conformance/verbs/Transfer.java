package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WrOpcode;

/**
 * One message from one side to the other, with all of its effects checked: both completions, every
 * byte of the target's buffer, and no other completion.
 */
final class Transfer {
  private final SplittableRandom random;
  private final Side initiator;
  private final Side peer;
  private long serial;

  /**
   * Messages that one side starts.
   *
   * @param initiator posts the send requests
   */
  Transfer(Side initiator, Side peer, long seed) {
    this.initiator = initiator;
    this.peer = peer;
    this.random = new SplittableRandom(seed);
  }

  /**
   * Sends a message.
   *
   * @param local parts of the initiator's buffer
   * @param remote parts of the peer's: where its receive takes a SEND, a single one for RDMA
   */
  void run(WrOpcode opcode, Pieces local, Pieces remote) {
    run(opcode, local, remote, request -> request);
  }

  /** As {@link #run(WrOpcode, Pieces, Pieces)}, with flags. */
  void run(WrOpcode opcode, Pieces from, Pieces to, UnaryOperator<SendRequest> flags) {
    requireImmediates(opcode);
    boolean isRead = opcode == WrOpcode.RDMA_READ;
    Pieces local = isRead ? Landing.legal(from) : from;
    Pieces remote = isRead ? to : Landing.legal(to);
    long wrId = ++serial << 32 | 0xabcd;
    int immediate = random.nextInt();
    String what = "%s of %d bytes".formatted(opcode, local.total());
    if (takesReceive(opcode)) {
      Pieces into = opcode == WrOpcode.RDMA_WRITE_WITH_IMM ? Pieces.one(0, 0) : withHeader(remote);
      peer.receive.wrId(-wrId).empty();
      into.addTo(peer.receive, peer.buffer);
      peer.qp.postReceive(peer.receive);
    }
    (isRead ? remote : local).randomize(isRead ? peer : initiator, random);
    SendRequest request = start(opcode, remote, immediate);
    local.addTo(request, initiator.buffer);
    if (initiator.way != null) {
      request.to(initiator.way, peer.qp.number(), Side.QKEY);
    }
    initiator.qp.postSend(flags.apply(request.wrId(wrId).signaled()));

    Wc sent = initiator.sent();
    Side.assertSuccess(sent);
    assertThat(sent.wrId()).as(what).isEqualTo(wrId);
    assertThat(sent.opcode()).as(what).isEqualTo(opcode.completion());
    assertThat(sent.qpNumber()).as(what).isEqualTo(initiator.qp.number());
    if (takesReceive(opcode)) {
      checkReceived(opcode, peer.received(), -wrId, withHeader(local).total(), immediate);
      peer.expectAnything(
          withHeader(remote).parts().getFirst().offset(), initiator.way == null ? 0 : Side.GRH);
    }
    if (isRead) {
      assertThat(sent.bytes()).as(what).isEqualTo(local.total());
      local.expect(initiator, peer, remote);
    } else {
      remote.expect(peer, initiator, local);
    }
    if (opcode == WrOpcode.RDMA_WRITE) {
      peer.verifyWritten(what + ", peer");
    } else {
      peer.verify(what + ", peer");
    }
    initiator.verify(what + ", initiator");
    assertThat(Wc.drain(initiator.sendQueue)).as(what).isEmpty();
    assertThat(Wc.drain(peer.receiveQueue)).as(what).isEmpty();
  }

  /** Where a datagram of one part arrives: its header stands in front. */
  private Pieces withHeader(Pieces pieces) {
    if (initiator.way == null) {
      return pieces;
    }
    Pieces.Piece part = pieces.parts().getFirst();
    return Pieces.one(part.offset() - Side.GRH, part.length() + Side.GRH);
  }

  private void checkReceived(WrOpcode opcode, Wc received, long wrId, long bytes, int immediate) {
    Side.assertSuccess(received);
    boolean hasImmediate = opcode != WrOpcode.SEND && TestProfile.has(Feature.IMMEDIATE_VALUE);
    assertThat(received)
        .isEqualTo(
            new Wc(
                wrId,
                received.status(),
                opcode == WrOpcode.RDMA_WRITE_WITH_IMM
                    ? WcOpcode.RECV_RDMA_WITH_IMM
                    : WcOpcode.RECV,
                bytes,
                peer.qp.number(),
                hasImmediate,
                hasImmediate ? immediate : received.immediate(),
                initiator.qp.number()));
  }

  private SendRequest start(WrOpcode opcode, Pieces remote, int immediate) {
    long address = peer.address(remote.parts().getFirst().offset());
    int rkey = peer.buffer.rkey();
    return switch (opcode) {
      case SEND -> initiator.send.send();
      case SEND_WITH_IMM -> initiator.send.sendWithImmediate(immediate);
      case RDMA_WRITE -> initiator.send.rdmaWrite(address, rkey);
      case RDMA_WRITE_WITH_IMM -> initiator.send.rdmaWriteWithImmediate(address, rkey, immediate);
      case RDMA_READ -> initiator.send.rdmaRead(address, rkey);
      default -> throw new IllegalArgumentException(opcode.toString());
    };
  }

  /** An invocation with an operation that the profile lacks counts as UNSUPPORTED. */
  static void requireImmediates(WrOpcode opcode) {
    if (opcode == WrOpcode.SEND_WITH_IMM) {
      TestProfile.require(Feature.SEND_WITH_IMMEDIATE);
    }
  }

  /** Those of some operations that the profile supports. */
  static List<WrOpcode> possible(WrOpcode... opcodes) {
    return Arrays.stream(opcodes)
        .filter(
            opcode ->
                opcode != WrOpcode.SEND_WITH_IMM || TestProfile.has(Feature.SEND_WITH_IMMEDIATE))
        .toList();
  }

  static boolean takesReceive(WrOpcode opcode) {
    return switch (opcode) {
      case SEND, SEND_WITH_IMM, RDMA_WRITE_WITH_IMM -> true;
      case RDMA_WRITE, RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> false;
    };
  }
}
