package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;

/**
 * A destination of datagrams, resolved once to what a UD unit holds. The card knows nothing of it.
 *
 * <p>Over a GID of an IPv4 address, datagrams carry both IPv4 addresses; over any other none, and
 * MAC addresses alone lead them.
 */
final class HghcaAddressHandle extends Resource implements AddressHandle {
  private final HghcaProtectionDomain pd;
  private final AddressVector vector;
  private final long sourceMac;
  private final long destinationMac;
  private final int sourceIp;
  private final int destinationIp;

  /**
   * Resolves a destination.
   *
   * @throws VerbsException EINVAL when the vector leads nowhere
   */
  HghcaAddressHandle(HghcaProtectionDomain pd, AddressVector vector) {
    super(pd);
    this.pd = pd;
    this.vector = vector;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      Port port = pd.deviceContext().port();
      port.check(vector);
      this.sourceMac = port.address().mac();
      this.destinationMac = port.macOf(vector.destination());
      Optional<Integer> ip = vector.destination().ipv4();
      this.sourceIp = ip.isPresent() ? port.address().ip() : 0;
      this.destinationIp = ip.orElse(0);
      undo.forget();
    }
  }

  /**
   * The way back to the sender of a datagram.
   *
   * @throws VerbsException EINVAL when the completion brings no header, or it was not for us
   */
  static AddressVector wayBack(
      Port port, Completions completions, int index, MemorySegment grh, int portNumber) {
    port.check(portNumber);
    if ((completions.flags(index) & Completions.GRH) == 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "the completion of wr_id %d brings no global route header: only receives of UD queue"
                  .formatted(completions.wrId(index))
              + " pairs do");
    }
    GlobalRouteHeader header = GlobalRouteHeader.of(grh);
    return new AddressVector(
        header.sourceGid(),
        port.gidIndex(header.destinationGid()),
        header.flowLabel(),
        header.hopLimit(),
        header.trafficClass(),
        0,
        portNumber);
  }

  int port() {
    return vector.port();
  }

  long sourceMac() {
    return sourceMac;
  }

  long destinationMac() {
    return destinationMac;
  }

  int sourceIp() {
    return sourceIp;
  }

  int destinationIp() {
    return destinationIp;
  }

  HghcaProtectionDomain domain() {
    return pd;
  }

  @Override
  String describe() {
    return "AH to %s".formatted(vector.destination());
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public AddressVector vector() {
    return vector;
  }

  @Override
  void release() {
    // The card holds nothing of it.
  }
}
