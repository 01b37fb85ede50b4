package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Calls that fail with an errno. */
final class Failures {
  private Failures() {}

  /** The call fails with a {@link VerbsException} of this errno, of which more can be asserted. */
  static AbstractThrowableAssert<?, ?> assertErrno(Errno errno, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
  }
}
