package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Calls that fail with an errno. */
public final class Failures {
  private Failures() {}

  /** The call fails with a {@link VerbsException} of this errno, of which more can be asserted. */
  public static AbstractThrowableAssert<?, ?> assertErrno(Errno errno, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
  }
}
