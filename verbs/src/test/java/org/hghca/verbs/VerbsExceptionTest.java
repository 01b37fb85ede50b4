package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VerbsExceptionTest {

  @Test
  void messageEndsInNameAndNumberOfTheError() {
    VerbsException exception = new VerbsException(Errno.EINVAL, "port 3 of hghca0");

    assertThat(exception).hasMessage("port 3 of hghca0: EINVAL (22)").hasNoCause();
    assertThat(exception.errno()).isEqualTo(Errno.EINVAL);
  }

  @Test
  void causeIsKept() {
    Exception cause = new Exception("why");

    assertThat(new VerbsException(Errno.EIO, "what", cause)).hasCause(cause);
  }

  @Test
  void requestOfAListIsNamedByItsPosition() {
    BadRequestException exception = new BadRequestException(Errno.ENOMEM, 3, "the queue is full");

    assertThat(exception).hasMessage("request 3 of the list: the queue is full: ENOMEM (12)");
    assertThat(exception.index()).isEqualTo(3);
    assertThat(exception.errno()).isEqualTo(Errno.ENOMEM);
  }

  @Test
  void singleRequestHasPositionZero() {
    BadRequestException exception = new BadRequestException(Errno.EINVAL, 0, "too many elements");

    assertThat(exception).hasMessage("too many elements: EINVAL (22)");
    assertThat(exception.index()).isZero();
  }
}
