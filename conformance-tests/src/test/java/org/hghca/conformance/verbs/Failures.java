package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Verbs that fail with an errno, and words that their message contains. */
final class Failures {
  private Failures() {}

  static void assertErrno(Errno errno, ThrowingCallable verb, String... words) {
    check(catchThrowableOfType(VerbsException.class, verb), errno, words);
  }

  /** The request of an index in its list is not posted. */
  static void assertBadRequest(Errno errno, int index, ThrowingCallable post, String... words) {
    BadRequestException failure = catchThrowableOfType(BadRequestException.class, post);
    check(failure, errno, words);
    assertThat(failure.index()).isEqualTo(index);
  }

  private static void check(VerbsException failure, Errno errno, String... words) {
    assertThat(failure).as("failure with %s", errno).isNotNull();
    assertThat(failure.errno()).isEqualTo(errno);
    assertThat(failure).hasMessageContaining("%s (%d)", errno.name(), errno.number());
    for (String word : words) {
      assertThat(failure).hasMessageContaining(word);
    }
  }
}
