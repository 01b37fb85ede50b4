package org.hghca.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendKind;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WorkRequest;

/**
 * What a provider does with requests and completions on the data path, and programs do not. The one
 * implementation is in the package of the requests and a constant to the compiler, so that a call
 * costs no more than a method of the request would.
 */
public abstract class ProviderAccess {
  private static final ProviderAccess INSTANCE = ofRequests();

  protected ProviderAccess() {}

  /** The only instance. */
  public static ProviderAccess get() {
    return INSTANCE;
  }

  /** Only this module can look into the package of the requests. */
  private static ProviderAccess ofRequests() {
    try {
      Lookup there = MethodHandles.privateLookupIn(SendRequest.class, MethodHandles.lookup());
      Class<?> type = there.findClass("org.hghca.verbs.RequestAccess");
      return (ProviderAccess)
          there.findConstructor(type, MethodType.methodType(void.class)).invoke();
    } catch (Throwable e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * What a request asks for, in one word: the number of {@link SendRequest#opcode} in libibverbs, 0
   * to 7, and bits of {@link SendKind}.
   */
  public abstract int kind(SendRequest request);

  /** The length of an element in bytes, 31 bits, in the low half; its key in the high half. */
  public abstract long lengthAndKey(WorkRequest request, int index);

  /**
   * Copies the bytes of an element of a request. Never writes more bytes than allowed, even if
   * another thread changes the request meanwhile.
   *
   * @param most maximum number of bytes
   * @return number of bytes of the element, none of which was copied if they are more than allowed;
   *     below 0, and nothing copied, if it has bytes in memory that is not known
   */
  public abstract int copyData(
      SendRequest request, int index, MemorySegment destination, long offset, int most);

  /**
   * Fills a place of the completions of a poll, for a request without a message.
   *
   * @param status the code of a {@link org.hghca.verbs.WcStatus}
   * @param opcode the code of a {@link org.hghca.verbs.WcOpcode}
   */
  public abstract void fill(
      Completions completions,
      int index,
      long wrId,
      int status,
      int opcode,
      int vendorError,
      int qpNumber);

  /**
   * Adds the message of the request to a filled place.
   *
   * @param flags of {@link Completions}
   * @param immediate 0 without immediate data
   * @param sourceQp 0 for a sent message
   */
  public abstract void fillMessage(
      Completions completions, int index, int byteLength, int flags, int immediate, int sourceQp);
}
