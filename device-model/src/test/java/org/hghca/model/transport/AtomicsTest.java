package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AtomicsTest {
  private static final ValueLayout.OfLong LITTLE_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long TARGET = 4096;

  private final Line line = new Line();

  private static Consumer<SendWork> request(SendOperation operation, int position) {
    return Station.request(operation, position, 8L * position, TARGET, 8);
  }

  private static Consumer<SendWork> add(int position, long value) {
    return request(SendOperation.FETCH_ADD, position).andThen(r -> r.swapAdd = value);
  }

  private static Consumer<SendWork> swap(int position, long compare, long value) {
    return request(SendOperation.COMPARE_SWAP, position)
        .andThen(
            r -> {
              r.compare = compare;
              r.swapAdd = value;
            });
  }

  private long target() {
    return line.b.memory.get(LITTLE_ENDIAN, TARGET);
  }

  private void target(long value) {
    line.b.memory.set(LITTLE_ENDIAN, TARGET, value);
  }

  private long result(int position) {
    return line.a.memory.get(LITTLE_ENDIAN, 8L * position);
  }

  private List<Integer> opcodesTo(long mac) {
    return line.seen.stream().filter(p -> p.to() == mac).map(Line.Seen::opcode).toList();
  }

  @Test
  void fetchAndAddAddsAndReturnsTheOldValue() {
    target(0x0102_0304_0506_07ffL);
    line.a.post(add(0, 2));
    line.run();
    assertThat(target()).isEqualTo(0x0102_0304_0506_0801L);
    assertThat(result(0)).isEqualTo(0x0102_0304_0506_07ffL);
    assertThat(line.b.memory.get(ValueLayout.JAVA_BYTE, TARGET)).isEqualTo((byte) 1);
    assertThat(opcodesTo(Line.B)).containsExactly(0x14);
    assertThat(opcodesTo(Line.A)).containsExactly(0x12);
    assertThat(line.a.done)
        .containsExactly(new Station.Done(true, 0, WorkStatus.SUCCESS, 0, 0, 8, false));
    assertThat(line.a.nextSendPsn).isEqualTo(1);
  }

  @Test
  void additionWrapsAroundAt64Bits() {
    target(-1);
    line.a.post(add(0, 3));
    line.run();
    assertThat(target()).isEqualTo(2);
    assertThat(result(0)).isEqualTo(-1);
  }

  @Test
  void compareAndSwapStoresOnlyWhenEqual() {
    target(5);
    line.a.post(swap(0, 4, 100));
    line.run();
    assertThat(target()).isEqualTo(5);
    line.a.post(swap(1, 5, 100));
    line.run();
    assertThat(target()).isEqualTo(100);
    assertThat(result(0)).isEqualTo(5);
    assertThat(result(1)).isEqualTo(5);
    assertThat(opcodesTo(Line.B)).containsExactly(0x13, 0x13);
    assertThat(opcodesTo(Line.A)).containsExactly(0x12, 0x12);
  }

  @Test
  void resultIsScatteredOverTheParts() {
    target(0x0807_0605_0403_0201L);
    line.a.post(
        request -> {
          add(0, 0).accept(request);
          request.pieces.clear();
          request.pieces.add(100, Station.KEY, 3);
          request.pieces.add(200, Station.KEY, 5);
        });
    line.run();
    assertThat(line.a.memory.asSlice(100, 4).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(1, 2, 3, 0);
    assertThat(line.a.memory.asSlice(200, 6).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(4, 5, 6, 7, 8, 0);
  }

  @Test
  void lostResponseIsRepeatedFromTheStore() {
    target(10);
    line.loses = number -> number == 1;
    line.a.post(add(0, 1));
    line.run();
    assertThat(target()).isEqualTo(11);
    assertThat(line.a.done).isEmpty();
    target(500); // the current value does not matter
    line.pass();
    assertThat(opcodesTo(Line.B)).containsExactly(0x14, 0x14);
    assertThat(opcodesTo(Line.A)).containsExactly(0x12, 0x12);
    assertThat(target()).isEqualTo(500);
    assertThat(result(0)).isEqualTo(10);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.b.transport.counters().duplicates).isEqualTo(1);
  }

  @Test
  void acknowledgementBehindAMissingResponseRequestsItAtOnce() {
    // Requests 0 and 1, the response 2, the acknowledgement 3.
    line.loses = number -> number == 2;
    line.a.post(add(0, 1));
    line.a.post(request(SendOperation.WRITE, 1).andThen(r -> r.remoteAddress = 0));
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1, 0, 1);
    assertThat(line.now).isZero();
    assertThat(target()).isEqualTo(1);
    assertThat(line.a.positions()).containsExactly(0, 1);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
  }

  @ParameterizedTest
  @CsvSource({"1, false", "2, false", "3, true"})
  void asManyResultsAreKeptAsReadsAreServed(int served, boolean kept) {
    line.a.maxReads = 1;
    line.b.maxReadsServed = served;
    for (int i = 0; i < 3; i++) {
      line.a.post(add(i, 1));
    }
    line.run();
    line.seen.clear();
    Packet again = line.pool.take();
    again.destinationMac = Line.B;
    again.destinationQpn = Station.QPN;
    again.opcode = 0x14;
    again.psn = 0;
    again.remoteAddress = TARGET;
    again.remoteKey = Station.KEY;
    again.swapAdd = 1;
    line.b.transport.receive(again);
    line.run();
    assertThat(target()).isEqualTo(3);
    assertThat(line.psnsTo(Line.A)).isEqualTo(kept ? List.of(0) : List.of());
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void responsesAreInOrderWithThoseOfReads() {
    target(7);
    line.a.post(request(SendOperation.READ, 0));
    line.a.post(add(1, 1));
    line.a.post(request(SendOperation.READ, 2));
    line.a.post(swap(3, 8, 9));
    line.run();
    assertThat(opcodesTo(Line.B)).containsExactly(0x0c, 0x14, 0x0c, 0x13);
    assertThat(opcodesTo(Line.A)).containsExactly(0x10, 0x12, 0x10, 0x12);
    assertThat(line.psnsTo(Line.A)).containsExactly(0, 1, 2, 3);
    assertThat(line.a.positions()).containsExactly(0, 1, 2, 3);
    assertThat(result(1)).isEqualTo(7);
    assertThat(result(3)).isEqualTo(8);
    assertThat(target()).isEqualTo(9);
  }

  @Test
  void lostReadResponseBetweenAtomicsRepeatsNoAtomic() {
    // Requests 0 to 2, responses 3 to 5.
    line.loses = number -> number == 4;
    line.a.post(add(0, 1));
    line.a.post(request(SendOperation.READ, 1).andThen(r -> r.remoteAddress = 0));
    line.a.post(add(2, 1));
    line.run();
    while (line.a.done.size() < 3) {
      assertThat(line.pass()).isTrue();
    }
    assertThat(target()).isEqualTo(2);
    assertThat(result(0)).isZero();
    assertThat(result(2)).isEqualTo(1);
    assertThat(line.a.statuses()).containsOnly(WorkStatus.SUCCESS);
  }

  @Test
  void atomicsAndReadsShareTheLimit() {
    line.a.maxReads = 2;
    line.loses = number -> line.seen.getLast().to() == Line.A;
    line.a.post(add(0, 1));
    line.a.post(request(SendOperation.READ, 1));
    line.a.post(add(2, 1));
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 1);
  }

  @Test
  void fencedRequestWaitsForTheAtomicsBeforeIt() {
    line.loses = number -> number == 1; // the response
    line.a.post(add(0, 1));
    line.a.post(
        request(SendOperation.WRITE, 1)
            .andThen(
                r -> {
                  r.remoteAddress = 0;
                  r.fence = true;
                }));
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0);
    line.pass();
    assertThat(line.psnsTo(Line.B)).containsExactly(0, 0, 1);
    assertThat(line.a.positions()).containsExactly(0, 1);
  }

  @Test
  void fencedAtomicWaitsForTheReadsBeforeIt() {
    line.loses = number -> number == 1; // the response
    line.a.post(request(SendOperation.READ, 0));
    line.a.post(add(1, 1).andThen(r -> r.fence = true));
    line.run();
    assertThat(line.psnsTo(Line.B)).containsExactly(0);
    line.pass();
    assertThat(result(0)).isZero();
    assertThat(target()).isEqualTo(1);
    assertThat(line.a.positions()).containsExactly(0, 1);
  }

  @Test
  void moreAtomicsThanTheResponderServesAreInvalid() {
    line.b.maxReadsServed = 1;
    line.a.post(add(0, 1));
    line.a.post(add(1, 1));
    line.run();
    assertThat(line.a.statuses())
        .containsExactly(WorkStatus.SUCCESS, WorkStatus.REMOTE_INVALID_REQUEST);
    assertThat(target()).isEqualTo(1);
  }

  @Test
  void atomicThatThePeerDoesNotEnableIsInvalid() {
    line.b.remoteAtomic = false;
    line.a.post(add(0, 1));
    line.run();
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x61);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.REMOTE_INVALID_REQUEST);
    assertThat(line.a.state).isEqualTo(QueuePairState.ERR);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
    assertThat(target()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "4", "7"})
  void addressThatIsNotAMultipleOfEightIsInvalid(int offset) {
    line.a.post(add(0, 1).andThen(r -> r.remoteAddress += offset));
    line.run();
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x61);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.REMOTE_INVALID_REQUEST);
  }

  @ParameterizedTest
  @CsvSource({"99, 0", "7, 1048576", "7, -8"})
  void invalidKeyOrAddressIsAnAccessError(int key, long address) {
    line.a.post(
        add(0, 1)
            .andThen(
                r -> {
                  r.remoteKey = key;
                  r.remoteAddress = address;
                }));
    line.run();
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x62);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.REMOTE_ACCESS);
  }

  @ParameterizedTest
  @CsvSource({"0", "7", "9", "16"})
  void resultOfOtherThanEightBytesIsALengthError(int length) {
    line.a.post(
        add(0, 1)
            .andThen(
                r -> {
                  r.pieces.clear();
                  r.pieces.add(0, Station.KEY, length);
                }));
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.LOCAL_LENGTH);
    assertThat(line.a.state).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void resultWithoutAValidKeyIsAProtectionError() {
    line.a.post(
        add(0, 1)
            .andThen(
                r -> {
                  r.pieces.clear();
                  r.pieces.add(0, 99, 8);
                }));
    line.run();
    assertThat(line.seen).isEmpty();
    assertThat(line.a.statuses()).containsExactly(WorkStatus.LOCAL_PROTECTION);
  }

  @Test
  void memoryUnmappedMeanwhileIsARemoteOperationError() {
    line.b.memoryGone = true;
    line.a.post(add(0, 1));
    line.run();
    assertThat(line.syndromesTo(Line.A)).containsExactly(0x63);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.REMOTE_OPERATION);
    assertThat(line.b.state).isEqualTo(QueuePairState.ERR);
    assertThat(line.b.events).containsExactly(QueuePairEvent.WORK_QUEUE_FAILED);
  }

  @ParameterizedTest
  @CsvSource({"READ, 0x12, 0", "FETCH_ADD, 0x10, 8", "COMPARE_SWAP, 0x10, 8"})
  void responseOfTheOtherKindIsABadResponse(SendOperation operation, String opcode, int length) {
    line.loses = number -> number == 1;
    line.a.post(request(operation, 0));
    line.run();
    Packet packet = line.pool.take();
    packet.destinationQpn = Station.QPN;
    packet.opcode = Integer.decode(opcode);
    packet.psn = 0;
    packet.length = length;
    line.a.transport.receive(packet);
    assertThat(line.a.statuses()).containsExactly(WorkStatus.BAD_RESPONSE);
  }
}
