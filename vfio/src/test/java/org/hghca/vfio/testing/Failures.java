package org.hghca.vfio.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** Calls that fail for a reason. */
public final class Failures {
  private Failures() {}

  /** The call fails with a {@link VfioException} of this reason, of which more can be asserted. */
  public static AbstractThrowableAssert<?, ?> assertReason(Reason reason, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(VfioException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }
}
