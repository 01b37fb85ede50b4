package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** The largest message: 2^31 bytes, of many elements over one region. */
class BehaviorOfLargeMessagesTest {
  private static final long MOST = 1L << 31;
  private static final int ELEMENTS = 16;
  private static final long ELEMENT = MOST / ELEMENTS;

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a SEND of 2^31 bytes arrives: both completions, its length, its data")
  void largestMessageArrives() {
    RcSetup setup = new RcSetup().depth(1).sges(ELEMENTS).bufferSize(ELEMENT).mtu(Mtu.MTU_4096);
    try (RcPair pair = setup.on(Fabric.inline())) {
      Side left = pair.left;
      Side right = pair.right;
      assertThat(left.context.queryPort(1).maxMessageSize()).isEqualTo(MOST);
      MemorySegment data = left.memory();
      data.fill((byte) 0x6b);
      data.asSlice(ELEMENT / 2, 1000).fill((byte) 0x3d);
      left.send.wrId(1).send().signaled();
      right.receive.wrId(2).empty();
      for (int i = 0; i < ELEMENTS; i++) {
        left.send.sge(left.buffer);
        right.receive.sge(right.buffer, 0, ELEMENT);
      }
      right.qp.postReceive(right.receive);
      left.qp.postSend(left.send);
      Side.assertSuccess(left.sent());
      Wc received = right.received();
      Side.assertSuccess(received);
      assertThat(received.bytes()).isEqualTo(MOST);
      assertThat(right.memory().mismatch(data)).isEqualTo(-1);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a message of 2^31 + 1 bytes is refused at the post, EINVAL")
  void largerMessageIsRefused() {
    try (RcPair pair = new RcSetup().sges(3).open()) {
      SendRequest send = pair.left.send.send();
      int lkey = pair.left.buffer.lkey();
      send.sge(0x1000, MOST / 2, lkey).sge(0x1000, MOST / 2, lkey).sge(0x1000, 1, lkey);
      assertThatThrownBy(() -> pair.left.qp.postSend(send))
          .isInstanceOf(BadRequestException.class)
          .hasMessageContaining(
              TestProfile.pick(Feature.LOCAL_ERROR_COMPLETIONS, "2147483649 bytes", "element 0"))
          .extracting("errno")
          .isEqualTo(Errno.EINVAL);
    }
  }
}
