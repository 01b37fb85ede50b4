package org.hghca.cm.carrier;

/**
 * Which UD queue pair serves an address: the contents of a SIDR_REP.
 *
 * @param path between the two, from this end: at the end that asks that of its question, with what
 *     only the answer tells
 * @param status 0 for success, or the reason why there is none: 1 unsupported, 2 rejected, 3 no
 *     queue pair, 4 redirected, 5 version
 * @param qpNumber 24 bits
 * @param qkey of the queue pair
 * @param privateData of the application
 */
public record ServiceReply(Path path, int status, int qpNumber, int qkey, PrivateData privateData) {
  public static final int SUCCESS = 0;
  public static final int REJECTED = 2;
}
