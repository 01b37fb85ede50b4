package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.MembershipFrame;
import org.junit.jupiter.api.Test;

class GroupMembershipTest {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int FIRST = 0xef01_0203;
  private static final int SECOND = 0xe100_0001;

  private final GroupMembership groups =
      new GroupMembership(
          0x0211_2233_4455L, PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0001)));

  /** The records of the pending reports, as in {@code 4 ef010203}. */
  private List<String> due() {
    MemorySegment frame = MemorySegment.ofArray(new byte[MembershipFrame.SIZE]);
    List<String> records = new ArrayList<>();
    while (groups.hasFrames()) {
      assertThat(groups.write(frame, 0)).isTrue();
      records.add("%d %x".formatted(frame.get(INT, 46) >>> 24, frame.get(INT, 50)));
    }
    assertThat(groups.write(frame, 0)).isFalse();
    return records;
  }

  @Test
  void joiningAndLeavingAreReported() {
    assertThat(groups.join(FIRST)).isTrue();
    assertThat(groups.join(SECOND)).isTrue();
    assertThat(groups.contains(FIRST)).isTrue();
    groups.leave(FIRST);
    assertThat(groups.contains(FIRST)).isFalse();
    assertThat(groups.contains(SECOND)).isTrue();
    assertThat(due()).containsExactly("4 ef010203", "4 e1000001", "3 ef010203");
  }

  @Test
  void queryIsAnsweredWithAllGroups() {
    groups.join(FIRST);
    groups.join(SECOND);
    groups.queried();
    assertThat(due()).containsExactlyInAnyOrder("2 ef010203", "2 e1000001");
    groups.queried();
    assertThat(due()).hasSize(2);
  }

  @Test
  void otherAddressFamilyIsNotJoined() {
    PortAddresses ipv6 = PortAddresses.NONE.withLinkLocal(5);
    assertThat(new GroupMembership(5, ipv6).join(FIRST)).isFalse();
    assertThat(groups.join(0)).isFalse();
    assertThat(groups.contains(0)).isFalse();
    assertThat(due()).isEmpty();
  }

  @Test
  void unsentReportsAreLimited() {
    for (int i = 0; i < 5000; i++) {
      groups.join(FIRST);
      groups.leave(FIRST);
    }
    List<String> left = due();
    assertThat(left).hasSize(4096);
    assertThat(left.getLast()).isEqualTo("3 ef010203");
  }
}
