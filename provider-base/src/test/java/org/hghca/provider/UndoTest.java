package org.hghca.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

public class UndoTest {
  private final List<Integer> undone = new ArrayList<>();

  @Test
  public void stepsAreUndoneLastFirst() {
    try (Undo undo = new Undo()) {
      undo.add(() -> undone.add(1));
      undo.add(() -> undone.add(2));
    }
    assertThat(undone).containsExactly(2, 1);
  }

  @Test
  public void failedStepDoesNotKeepOthersFromBeingUndone() {
    Undo undo = new Undo();
    undo.add(() -> undone.add(1));
    undo.add(
        () -> {
          throw new IllegalStateException("the reset failed");
        });
    undo.add(() -> undone.add(3));
    assertThatThrownBy(undo::close).hasMessage("the reset failed");
    assertThat(undone).containsExactly(3, 1);
  }

  @Test
  public void forgottenStepsAreNotUndone() {
    try (Undo undo = new Undo()) {
      undo.add(() -> undone.add(1));
      undo.forget();
    }
    assertThat(undone).isEmpty();
  }
}
