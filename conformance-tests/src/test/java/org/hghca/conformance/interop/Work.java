package org.hghca.conformance.interop;

/**
 * A send request: the local buffer's bytes from an offset, and the target at the other end.
 *
 * @param kind as the agent in the guest names it
 * @param compare the expected value of a compare and swap
 * @param operand the value to swap in, or to add
 */
record Work(
    String kind,
    long wr,
    long offset,
    long length,
    int immediate,
    long remoteAddress,
    int rkey,
    long compare,
    long operand) {

  static Work send(long wr, long offset, long length) {
    return new Work("send", wr, offset, length, 0, 0, 0, 0, 0);
  }

  static Work sendImmediate(long wr, long offset, long length, int immediate) {
    return new Work("send_imm", wr, offset, length, immediate, 0, 0, 0, 0);
  }

  static Work write(long wr, long offset, long length, long remoteAddress, int rkey) {
    return new Work("write", wr, offset, length, 0, remoteAddress, rkey, 0, 0);
  }

  static Work writeImmediate(
      long wr, long offset, long length, long remoteAddress, int rkey, int immediate) {
    return new Work("write_imm", wr, offset, length, immediate, remoteAddress, rkey, 0, 0);
  }

  static Work read(long wr, long offset, long length, long remoteAddress, int rkey) {
    return new Work("read", wr, offset, length, 0, remoteAddress, rkey, 0, 0);
  }

  static Work compareAndSwap(
      long wr, long offset, long remoteAddress, int rkey, long compare, long swap) {
    return new Work("swap", wr, offset, Long.BYTES, 0, remoteAddress, rkey, compare, swap);
  }

  static Work fetchAndAdd(long wr, long offset, long remoteAddress, int rkey, long add) {
    return new Work("add", wr, offset, Long.BYTES, 0, remoteAddress, rkey, 0, add);
  }
}
