package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * Gives providers access to methods that only they may call; {@link ProviderAccess} creates it by
 * name.
 */
final class RequestAccess extends ProviderAccess {

  @Override
  public int kind(SendRequest request) {
    return request.kind();
  }

  @Override
  public long lengthAndKey(WorkRequest request, int index) {
    return request.lengthAndKey(index);
  }

  @Override
  public int copyData(
      SendRequest request, int index, MemorySegment destination, long offset, int most) {
    return request.copyData(index, destination, offset, most);
  }

  @Override
  public void fill(
      Completions completions,
      int index,
      long wrId,
      int status,
      int opcode,
      int vendorError,
      int qpNumber) {
    completions.set(index, wrId, status, opcode, vendorError, qpNumber);
  }

  @Override
  public void fillMessage(
      Completions completions, int index, int byteLength, int flags, int immediate, int sourceQp) {
    completions.setMessage(index, byteLength, flags, immediate, sourceQp);
  }
}
