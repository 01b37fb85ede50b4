package org.hghca.driver;

import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.ReceiveRequest;

/** What a receive request must be before a card sees it, beside that it fits a slot. */
interface ReceiveChecks {
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
   * @param index its place in the caller's list
   * @throws BadRequestException EINVAL
   */
  void check(ReceiveRequest request, int index);

  /** How many bytes at the beginning of its memory a request keeps from the card. */
  int skipped();
}
