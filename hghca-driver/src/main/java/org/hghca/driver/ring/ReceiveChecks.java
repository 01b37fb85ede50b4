package org.hghca.driver.ring;

import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.ReceiveRequest;

/** The checks of a receive request before it is passed to the card, besides its size. */
public interface ReceiveChecks {
  /** For a card that reports bad requests. */
  ReceiveChecks NONE =
      new ReceiveChecks() {
        @Override
        public void check(ReceiveRequest request, int index) {}

        @Override
        public int skipped() {
          return 0;
        }
      };

  /**
   * Checks a request.
   *
   * @param index its index in the caller's list
   * @throws BadRequestException EINVAL
   */
  void check(ReceiveRequest request, int index);

  /** Number of leading bytes of its memory that a request hides from the card. */
  int skipped();
}
