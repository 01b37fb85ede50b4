package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.api.ThrowingConsumer;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** The expected exception of a test. */
final class Thrown {

  private Thrown() {}

  static ThrowingConsumer<Throwable> is(Reason reason) {
    return e ->
        assertThat(e)
            .isInstanceOfSatisfying(
                VfioException.class, vfio -> assertThat(vfio.reason()).isEqualTo(reason));
  }
}
