package org.hghca.tools.bringup.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.hghca.tools.bringup.data.Lengths.Crossing;
import org.hghca.tools.bringup.verbs.Transfers.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which messages there are, and which of them even when time runs out. */
class LengthsTest {
  private static final List<Kind> KINDS = List.of(Kind.WRITE, Kind.SEND, Kind.READ);

  private record Message(Kind kind, int length) {}

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void everyLengthIsSentByEveryKind(int first) {
    int lengths = 521 - first;
    assertThat(IntStream.range(0, 3 * lengths).mapToObj(i -> message(i, first)))
        .doesNotHaveDuplicates()
        .allSatisfy(message -> assertThat(message.length()).isBetween(first, 520));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void fewestMessagesHaveAllKindsAndAllRemaindersOfABusTransfer(int first) {
    List<Message> fewest =
        IntStream.range(0, Lengths.LEAST).mapToObj(i -> message(i, first)).toList();
    assertThat(fewest.stream().collect(Collectors.groupingBy(Message::kind, Collectors.counting())))
        .containsOnlyKeys(KINDS)
        .allSatisfy((kind, count) -> assertThat(count).isEqualTo(16));
    assertThat(fewest.stream().map(message -> message.length() % 32).distinct()).hasSize(32);
  }

  private static Message message(int i, int first) {
    return new Message(Lengths.kind(i), Lengths.length(i, first));
  }

  @Test
  void everyCrossingComesOnce() {
    assertThat(IntStream.range(0, Crossing.ALL).mapToObj(Crossing::of))
        .hasSize(360)
        .doesNotHaveDuplicates();
  }

  @Test
  void fewestCrossingsHaveAllKindsBoundariesAndPlaces() {
    assertThat(values(crossing -> List.of(crossing.kind(), crossing.boundary()))).isEqualTo(9);
    assertThat(
            values(crossing -> List.of(crossing.before(), crossing.behind(), crossing.inTarget())))
        .isEqualTo(40);
    assertThat(values(crossing -> List.of(crossing.kind(), crossing.inTarget()))).isEqualTo(6);
    assertThat(values(crossing -> List.of(crossing.boundary(), crossing.inTarget()))).isEqualTo(6);
  }

  /** How many different ones there are among the fewest. */
  private static long values(Function<Crossing, Object> of) {
    return IntStream.range(0, Lengths.LEAST).mapToObj(Crossing::of).map(of).distinct().count();
  }
}
