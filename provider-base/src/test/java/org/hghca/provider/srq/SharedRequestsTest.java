package org.hghca.provider.srq;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.hghca.verbs.ReceiveRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class SharedRequestsTest {
  private final ReceiveRequest request = new ReceiveRequest(3);
  private final SharedRequests requests = new SharedRequests(4, 3);

  private boolean add(long wrId) {
    return requests.add(request.wrId(wrId).empty());
  }

  private long wrId(int number) {
    requests.copy(number, request);
    return request.wrId();
  }

  @Test
  public void requestsAreCopiedOutAsTheyWereCopiedIn() {
    long address = 0xffff_8000_0000_1234L;
    requests.add(
        new ReceiveRequest()
            .wrId(-5)
            .sge(address, Integer.MAX_VALUE, 0x8000_0001)
            .sge(1, 0, 0)
            .sge(2, 1, -1));
    add(6);
    int first = requests.take();
    requests.copy(first, request);
    assertThat(request.wrId()).isEqualTo(-5);
    assertThat(request.sgeCount()).isEqualTo(3);
    assertThat(request.sgeAddress(0)).isEqualTo(address);
    assertThat(request.sgeLength(0)).isEqualTo(Integer.MAX_VALUE);
    assertThat(request.sgeLkey(0)).isEqualTo(0x8000_0001);
    assertThat(request.sgeLength(1)).isZero();
    assertThat(request.sgeLkey(2)).isEqualTo(-1);
    requests.copy(requests.take(), request);
    assertThat(request.wrId()).isEqualTo(6);
    assertThat(request.sgeCount()).isZero();
  }

  @Test
  public void requestsCountUntilTheyComplete() {
    for (int i = 0; i < 4; i++) {
      assertThat(add(i)).isTrue();
    }
    assertThat(add(4)).isFalse();
    int taken = requests.take();
    assertThat(requests.waiting()).isEqualTo(3);
    assertThat(requests.outstanding()).isEqualTo(4);
    assertThat(add(4)).isFalse();
    requests.complete(taken);
    assertThat(requests.outstanding()).isEqualTo(3);
    assertThat(add(4)).isTrue();
  }

  @Test
  public void returnedRequestsTakeTheirOldPositionInAnyOrder() {
    for (int i = 0; i < 4; i++) {
      add(i);
    }
    int zero = requests.take();
    int one = requests.take();
    int two = requests.take();
    requests.giveBack(one);
    requests.giveBack(two);
    requests.giveBack(zero);
    for (int i = 0; i < 4; i++) {
      assertThat(wrId(requests.take())).isEqualTo(i);
    }
  }

  @Test
  public void smallerCapacityTakesNoMoreUntilEnoughComplete() {
    add(0);
    add(1);
    requests.resize(2);
    assertThat(add(2)).isFalse();
    requests.complete(requests.take());
    assertThat(add(2)).isTrue();
    assertThat(requests.capacity()).isEqualTo(2);
  }

  /** Against lists of the expected requests. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  public void anySequenceKeepsEveryRequestAndTheOrder(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    TreeSet<Long> waiting = new TreeSet<>();
    Deque<Integer> taken = new ArrayDeque<>();
    long posted = 0;
    int capacity = 4;
    for (int step = 0; step < 5000; step++) {
      int outstanding = waiting.size() + taken.size();
      switch (random.nextInt(6)) {
        case 0, 1 -> {
          boolean room = outstanding < capacity;
          assertThat(add(posted)).isEqualTo(room);
          if (room) {
            waiting.add(posted++);
          }
        }
        case 2 -> {
          if (!waiting.isEmpty()) {
            taken.add(requests.take());
            assertThat(wrId(taken.getLast())).isEqualTo(waiting.removeFirst());
          }
        }
        case 3 -> {
          if (!taken.isEmpty()) {
            requests.complete(taken.removeFirst());
          }
        }
        case 4 -> {
          List<Integer> back = new ArrayList<>();
          while (!taken.isEmpty() && random.nextBoolean()) {
            back.add(random.nextBoolean() ? taken.removeFirst() : taken.removeLast());
          }
          for (int number : back) {
            waiting.add(wrId(number));
            requests.giveBack(number);
          }
        }
        default -> {
          if (random.nextInt(20) == 0) {
            capacity = Math.max(1, outstanding) + random.nextInt(8);
            requests.resize(capacity);
          }
        }
      }
      assertThat(requests.waiting()).isEqualTo(waiting.size());
      assertThat(requests.outstanding()).isEqualTo(waiting.size() + taken.size());
    }
  }
}
