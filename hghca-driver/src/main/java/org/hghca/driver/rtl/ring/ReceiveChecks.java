package org.hghca.driver.rtl.ring;

import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ReceiveRequest;

/**
 * The checks of a receive request for a card that stops at a bad one. The message length is
 * unknown, so an element that crosses a page must be safe for all packets.
 *
 * @param skipped the first bytes of the memory, which are not passed to the card
 */
public record ReceiveChecks(RequestMemory memory, int skipped) {
  /**
   * Checks a request.
   *
   * @param index its index in the caller's list
   * @throws BadRequestException EINVAL
   */
  void check(ReceiveRequest request, int index) {
    long before = 0;
    int skip = skipped;
    for (int i = 0; i < request.sgeCount(); i++) {
      int length = request.sgeLength(i);
      if (length != 0) {
        memory.check(request, i, length, AccessFlag.LOCAL_WRITE.bit(), index);
        int less = Math.min(skip, length);
        skip -= less;
        if (PageCrossing.mayStrike(request.sgeAddress(i) + less, length - less, before)) {
          throw RequestMemory.strikes(request, i, index);
        }
        before += length - less;
      }
    }
    if (skipped != 0 && before == 0) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          ("a receive of at most the %d bytes of a header: a message that does not fit stops the"
                  + " queue pair; make room for the longest one")
              .formatted(skipped));
    }
  }
}
