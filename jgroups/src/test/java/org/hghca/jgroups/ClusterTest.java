package org.hghca.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.blocks.ReplicatedHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Members in one process, each with a device of its own. */
@ParameterizedClass
@ValueSource(
    strings = {
      "model:m%1$d?net=shm:jgroups%2$d&ip=127.0.9.%1$d",
      "model:m%1$d?net=udp:127.0.9.%1$d",
      "model:m%1$d-%2$d?hub=jgroups%2$d&ip=10.9.9.%1$d"
    })
class ClusterTest {
  private static final int[] LENGTHS = {
    1, 2, 100, 1_400, 8_192, 60_000, 63_000, 65_528, 65_536, 200_000, 1_048_576
  };
  private static final int ENTRIES = 200;
  private static final AtomicInteger MEDIA = new AtomicInteger();

  private final String locator;
  private final int medium = MEDIA.incrementAndGet();
  private final List<Member> members = new ArrayList<>();

  ClusterTest(String locator) {
    this.locator = locator;
  }

  @AfterEach
  void close() {
    members.reversed().forEach(Member::close);
  }

  private Member member(int number) throws Exception {
    Member member =
        Member.of("m" + number, locator.formatted(number, medium)).connect("c" + medium);
    members.add(member);
    return member;
  }

  private static byte[] content(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void messagesOfEveryLengthArriveInBothDirectionsAtOnce() throws Exception {
    Member a = member(1);
    Member b = member(2);
    a.awaitMembers(2);
    b.awaitMembers(2);
    Thread other = Thread.startVirtualThread(() -> sendAll(b, a));
    sendAll(a, b);
    other.join();
    for (int length : LENGTHS) {
      assertThat(b.next(a)).isEqualTo(content(length, length));
      assertThat(a.next(b)).isEqualTo(content(length, length));
    }
    assertThat(a.transport().getOpenConnections()).isEqualTo(1);
    assertThat(b.transport().getOpenConnections()).isEqualTo(1);
  }

  private static void sendAll(Member from, Member to) {
    for (int length : LENGTHS) {
      try {
        from.send(to, content(length, length));
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void whoLeavesIsNoMissedAndWhoComesBackGetsEverythingAgain() throws Exception {
    Member a = member(1);
    Member b = member(2);
    Member c = member(3);
    a.awaitMembers(3);
    c.awaitMembers(3);
    everyoneHearsEveryone(List.of(a, b, c), 1);
    b.close();
    members.remove(b);
    a.awaitMembers(2);
    c.awaitMembers(2);
    everyoneHearsEveryone(List.of(a, c), 2);
    Member again = member(2);
    a.awaitMembers(3);
    c.awaitMembers(3);
    everyoneHearsEveryone(List.of(a, again, c), 3);
  }

  private static void everyoneHearsEveryone(List<Member> all, int seed) throws Exception {
    for (Member from : all) {
      from.sendToAll(content(seed, 100_000));
      for (Member to : all) {
        assertThat(to.next(from)).isEqualTo(content(seed, 100_000));
      }
    }
  }

  @Test
  void mapsOfThreeMembersHaveTheSameEntriesAndWhoComesLaterGetsThem() throws Exception {
    List<ReplicatedHashMap<Integer, byte[]>> maps = new ArrayList<>();
    for (int number = 1; number <= 3; number++) {
      maps.add(map(number));
    }
    members.getFirst().awaitMembers(3);
    members.get(1).awaitMembers(3);
    for (int number = 0; number < 3; number++) {
      for (int key = 0; key < ENTRIES; key++) {
        maps.get(number).put(number * ENTRIES + key, content(key, 10 * key));
      }
    }
    maps.forEach(map -> awaitEntries(map, 3 * ENTRIES));
    ReplicatedHashMap<Integer, byte[]> later = map(4);
    later.start(Member.SOON.toMillis());
    awaitEntries(later, 3 * ENTRIES);
  }

  private ReplicatedHashMap<Integer, byte[]> map(int number) throws Exception {
    Member member = Member.of("m" + number, locator.formatted(number, medium));
    members.add(member);
    ReplicatedHashMap<Integer, byte[]> map = new ReplicatedHashMap<>(member.channel);
    member.connect("c" + medium);
    return map;
  }

  private static void awaitEntries(ReplicatedHashMap<Integer, byte[]> map, int size) {
    Member.await(() -> map.size() == size);
    assertThat(map).hasSize(size);
    map.forEach(
        (key, value) -> assertThat(value).isEqualTo(content(key % ENTRIES, 10 * (key % ENTRIES))));
  }
}
