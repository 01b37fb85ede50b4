package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The short forms of verbs pass on their arguments. */
class DefaultMethodsTest {
  private final List<Object> calls = new ArrayList<>();

  @Test
  void pollRequestsAsManyAsThereIsRoomFor() {
    CompletionQueue queue =
        Fakes.of(
            CompletionQueue.class,
            Map.of(
                "poll",
                arguments -> {
                  calls.add(arguments[1]);
                  return 5;
                }));

    assertThat(queue.poll(new Completions(16))).isEqualTo(5);
    assertThat(calls).containsExactly(16);
  }

  @Test
  void completionQueueOfSomeEntriesHasTheLargestRing() {
    CompletionQueue queue = Fakes.of(CompletionQueue.class, Map.of());
    Context context =
        Fakes.of(
            Context.class,
            Map.of(
                "createCompletionQueue",
                arguments -> {
                  calls.add(arguments[0]);
                  return queue;
                }));

    assertThat(context.createCompletionQueue(256)).isSameAs(queue);
    assertThat(calls)
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(CompletionQueueConfig.of(256));
  }

  @Test
  void accessFlagsAreGatheredIntoASet() {
    MemoryRegion region = new FakeRegion(0, 1, 1);
    ProtectionDomain domain =
        Fakes.of(
            ProtectionDomain.class,
            Map.of(
                "register",
                arguments -> {
                  calls.add(arguments[1]);
                  return region;
                },
                "allocate",
                arguments -> {
                  calls.add(arguments[1]);
                  return region;
                }));

    domain.register(MemorySegment.NULL, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    domain.allocate(64);

    assertThat(calls)
        .containsExactly(Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ), Set.of());
  }
}
