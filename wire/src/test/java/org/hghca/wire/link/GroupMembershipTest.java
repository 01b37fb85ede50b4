package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.MembershipFrame;
import org.junit.jupiter.api.Test;

class GroupMembershipTest {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int FIRST = 0xef01_0203;
  private static final int SECOND = 0xe100_0001;

  /** The group ff05::1:2:3. */
  private static final long HIGH = 0xff05L << 48;

  private static final long LOW = 0x0001_0002_0003L;

  private final GroupMembership groups =
      new GroupMembership(
          0x0211_2233_4455L,
          PortAddresses.NONE
              .with(0, IpAddress.lowOfIpv4(0x0a00_0001))
              .withLinkLocal(0x0211_2233_4455L),
          true);

  /** The records of the reports that are due, as in {@code 4 ef010203}. */
  private List<String> due(long now) {
    MemorySegment frame = MemorySegment.ofArray(new byte[GroupMembership.LONGEST_FRAME]);
    List<String> records = new ArrayList<>();
    while (groups.due() <= now) {
      boolean ipv4 = groups.write(frame, 0, now) == MembershipFrame.SIZE;
      String group =
          ipv4
              ? "%x".formatted(frame.get(INT, 50))
              : "%x..%x".formatted(frame.get(INT, 74), frame.get(INT, 86));
      records.add("%d %s".formatted(frame.get(INT, ipv4 ? 46 : 70) >>> 24, group));
    }
    assertThat(groups.write(frame, 0, now)).isZero();
    return records;
  }

  private boolean join(int group) {
    return groups.join(0, IpAddress.lowOfIpv4(group), 0);
  }

  private void leave(int group) {
    groups.leave(0, IpAddress.lowOfIpv4(group), 0);
  }

  private boolean contains(int group) {
    return groups.contains(0, IpAddress.lowOfIpv4(group));
  }

  @Test
  void joiningAndLeavingAreReported() {
    assertThat(join(FIRST)).isTrue();
    assertThat(join(SECOND)).isTrue();
    assertThat(contains(FIRST)).isTrue();
    leave(FIRST);
    assertThat(contains(FIRST)).isFalse();
    assertThat(contains(SECOND)).isTrue();
    assertThat(due(0)).containsExactly("4 ef010203", "4 e1000001", "3 ef010203");
    assertThat(due(1_000_000_000L)).containsExactlyInAnyOrder("4 e1000001", "3 ef010203");
  }

  @Test
  void queryIsAnsweredWithAllGroups() {
    join(FIRST);
    join(SECOND);
    due(0);
    due(1_000_000_000L);
    long now = 2_000_000_000L;
    groups.queried(true, 0, 0, 0, now);
    assertThat(due(now)).containsExactlyInAnyOrder("2 ef010203", "2 e1000001");
    groups.queried(true, 0, 0, 0, now);
    assertThat(due(now)).isEmpty();
    assertThat(due(now + GroupAnswer.GAP)).hasSize(2);
  }

  @Test
  void queryOfAGroupIsAnsweredWithItOnly() {
    join(FIRST);
    join(SECOND);
    due(0);
    due(1_000_000_000L);
    long now = 2_000_000_000L;
    groups.queried(true, 0, IpAddress.lowOfIpv4(SECOND + 1), 0, now);
    assertThat(due(now)).as("not in it").isEmpty();
    groups.queried(true, 0, IpAddress.lowOfIpv4(SECOND), 0, now);
    assertThat(due(now)).containsExactly("2 e1000001");
    groups.queried(true, 0, IpAddress.lowOfIpv4(SECOND), 0, now);
    groups.queried(true, 0, IpAddress.lowOfIpv4(FIRST), 0, now);
    assertThat(due(now + GroupAnswer.GAP)).as("two groups: all").hasSize(2);
  }

  @Test
  void leavingAndJoiningBeforeAReportEndsWithTheReportOfJoining() {
    join(FIRST);
    due(0);
    due(1_000_000_000L);
    leave(FIRST);
    join(FIRST);
    assertThat(due(1_000_000_000L)).containsExactly("3 ef010203", "4 ef010203");
    assertThat(due(2_000_000_000L)).containsExactly("4 ef010203");
    assertThat(groups.due()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void manyQueriesAboutManyGroupsGetBoundedAnswers() {
    for (int i = 0; i < 1024; i++) {
      join(FIRST + i);
    }
    due(0);
    due(1_000_000_000L);
    long start = 2_000_000_000L;
    int most = 0;
    int sum = 0;
    for (int i = 0; i < 1000; i++) { // one second
      long now = start + i * 1_000_000L;
      for (int queries = 0; queries < 100; queries++) {
        groups.queried(true, 0, 0, 10_000_000_000L, now);
      }
      int reports = due(now).size();
      most = Math.max(most, reports);
      sum += reports;
    }
    assertThat(most).as("of one flush").isEqualTo(GroupAnswer.AT_ONCE);
    assertThat(sum).as("of ten answers").isBetween(9 * 1024, 10 * 1024);
  }

  @Test
  void queryIsAnsweredWithinItsTime() {
    join(FIRST);
    due(0);
    due(1_000_000_000L);
    groups.queried(true, 0, 0, 10_000_000_000L, 2_000_000_000L);
    assertThat(groups.due()).isBetween(2_000_000_001L, 12_000_000_000L);
    assertThat(due(groups.due())).containsExactly("2 ef010203");
    assertThat(groups.due()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void otherAddressFamilyIsNotJoined() {
    PortAddresses ipv6 = PortAddresses.NONE.withLinkLocal(5);
    long first = IpAddress.lowOfIpv4(FIRST);
    assertThat(new GroupMembership(5, ipv6, true).join(0, first, 0)).isFalse();
    PortAddresses ipv4 = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(1));
    assertThat(new GroupMembership(5, ipv4, true).join(HIGH, LOW, 0)).isFalse();
    assertThat(groups.join(0, 0, 0)).isFalse();
    assertThat(groups.contains(0, 0)).isFalse();
    assertThat(due(0)).isEmpty();
  }

  @Test
  void unsentReportsAreLimited() {
    for (int i = 0; i < 5000; i++) {
      join(FIRST);
      leave(FIRST);
    }
    List<String> left = due(0);
    assertThat(left).hasSize(4096);
    assertThat(left.getLast()).isEqualTo("3 ef010203");
  }

  @Test
  void groupsOfIpv6AreReported() {
    assertThat(groups.join(HIGH, LOW, 0)).isTrue();
    assertThat(groups.contains(HIGH, LOW)).isTrue();
    assertThat(groups.contains(HIGH, LOW + 1)).isFalse();
    assertThat(due(0)).containsExactly("4 ff050000..20003");
    groups.leave(HIGH, LOW, 0);
    assertThat(groups.contains(HIGH, LOW)).isFalse();
    assertThat(due(0)).containsExactly("3 ff050000..20003");
  }

  @Test
  void changeIsReportedTwiceWithinASecond() {
    join(FIRST);
    assertThat(due(0)).containsExactly("4 ef010203");
    assertThat(groups.due()).isBetween(1L, 1_000_000_000L);
    assertThat(due(groups.due() - 1)).isEmpty();
    assertThat(due(1_000_000_000L)).containsExactly("4 ef010203");
    assertThat(groups.due()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void changeIsNotRepeatedBehindTheNextOne() {
    join(FIRST);
    assertThat(due(0)).containsExactly("4 ef010203");
    leave(FIRST);
    assertThat(due(0)).containsExactly("3 ef010203");
    assertThat(due(1_000_000_000L)).containsExactly("3 ef010203");
  }

  @Test
  void queryIsAnsweredWithGroupsOfItsFamilyAndLeavingIsRepeatedAllTheSame() {
    join(FIRST);
    join(SECOND);
    groups.join(HIGH, LOW, 0);
    due(0);
    leave(SECOND);
    due(0);
    groups.queried(true, 0, 0, 0, 0);
    assertThat(due(0)).containsExactly("2 ef010203");
    assertThat(due(1_000_000_000L))
        .containsExactlyInAnyOrder("4 ef010203", "4 ff050000..20003", "3 e1000001");
    groups.queried(false, 0, 0, 0, 1_000_000_000L);
    assertThat(due(1_000_000_000L)).containsExactly("2 ff020000..ff334455", "2 ff050000..20003");
  }

  @Test
  void anotherNetworkGetsReportsOfAllGroupsAndOfWhereAddressesAreSolicited() {
    join(FIRST);
    groups.join(HIGH, LOW, 0);
    groups.moved(0);
    String[] all = {"4 ff020000..ff334455", "4 ef010203", "4 ff050000..20003"};
    assertThat(due(0)).containsExactlyInAnyOrder(all);
    assertThat(due(1_000_000_000L)).containsExactlyInAnyOrder(all);
  }

  @Test
  void thousandGroupsAreFound() {
    SplittableRandom random = new SplittableRandom(1);
    Set<Long> joined = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      long low = random.nextLong(5000);
      if (joined.add(low)) {
        groups.join(HIGH + low % 3, low, 0);
      } else {
        joined.remove(low);
        groups.leave(HIGH + low % 3, low, 0);
      }
    }
    for (long low = 0; low < 5000; low++) {
      assertThat(groups.contains(HIGH + low % 3, low)).isEqualTo(joined.contains(low));
      assertThat(groups.contains(HIGH + (low + 1) % 3, low)).isFalse();
    }
  }
}
