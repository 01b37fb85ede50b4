package org.hghca.driver.rtl.ring;

import org.hghca.driver.memory.KeyedMemory;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.WorkRequest;

/**
 * The memory that requests of one queue pair may name, for a card that stops at other memory.
 * Thread-safe.
 */
public final class RequestMemory {
  private final KeyTable keys;
  private final int pd;

  /**
   * Memory of a protection domain.
   *
   * @param pd its number
   */
  public RequestMemory(KeyTable keys, int pd) {
    this.keys = keys;
    this.pd = pd;
  }

  /** The memory of a key, in any protection domain; null if there is none. */
  public KeyedMemory find(int key) {
    return keys.find(key);
  }

  /**
   * Checks an element.
   *
   * @param element its index in the request
   * @param access the required rights of its memory: bits of {@link AccessFlag}
   * @param index the request's index in the caller's list
   * @throws BadRequestException EINVAL naming the element
   */
  public void check(WorkRequest request, int element, int length, int access, int index) {
    KeyedMemory entry = keys.find(request.sgeLkey(element));
    if (entry == null
        || entry.pd() != pd
        || !entry.contains(request.sgeAddress(element), length)
        || (entry.access() & access) != access) {
      throw bad(entry, request, element, access, index);
    }
  }

  private BadRequestException bad(
      KeyedMemory entry, WorkRequest request, int element, int access, int index) {
    String complaint;
    if (entry == null) {
      complaint = "no memory region has that key: it is closed, or of another device";
    } else if (entry.pd() != pd) {
      complaint =
          "the memory region is of PD 0x%x and the queue pair of PD 0x%x: register it there"
              .formatted(entry.pd(), pd);
    } else if ((entry.access() & access) != access) {
      complaint = "the card writes there and the memory region has no LOCAL_WRITE";
    } else {
      complaint =
          "it does not lie in the memory region, %d bytes at 0x%x"
              .formatted(entry.length(), entry.start());
    }
    return refused(request, element, index, complaint);
  }

  /** The refusal of an element that may stop the card. */
  public static BadRequestException strikes(WorkRequest request, int element, int index) {
    return refused(
        request,
        element,
        index,
        "it crosses a page, and packets written there could stop the card: start it at a multiple"
            + " of 32 after elements of multiples of 32 bytes, or keep it inside a page");
  }

  private static BadRequestException refused(
      WorkRequest request, int element, int index, String complaint) {
    return new BadRequestException(
        Errno.EINVAL,
        index,
        "element %d, %d bytes at 0x%x with lkey 0x%08x: %s"
            .formatted(
                element,
                request.sgeLength(element),
                request.sgeAddress(element),
                request.sgeLkey(element),
                complaint));
  }
}
