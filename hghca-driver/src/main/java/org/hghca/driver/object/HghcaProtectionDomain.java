package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.hghca.driver.memory.DomainRings;
import org.hghca.provider.Undo;
import org.hghca.provider.object.AbstractProtectionDomain;
import org.hghca.provider.srq.SoftwareSrq;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.memory.BufferPool;

/** A protection domain: a number that memory, queue pairs and completion queues share. */
final class HghcaProtectionDomain extends AbstractProtectionDomain {
  private static final Set<AccessFlag> UNSUPPORTED =
      EnumSet.of(AccessFlag.MW_BIND, AccessFlag.ON_DEMAND);

  private final DeviceContext context;
  private final int number;

  private final DomainRings rings;

  HghcaProtectionDomain(DeviceContext context) {
    super(context, UNSUPPORTED);
    this.context = context;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      this.number = context.hghca().pdNumbers().allocate();
      undo.forget();
    }
    this.rings = new DomainRings(context.queuePairRings(number));
    publish();
  }

  @Override
  public int number() {
    return number;
  }

  /** Memory of its queue pairs' rings. */
  DomainRings rings() {
    return rings;
  }

  HghcaDevice device() {
    return context.hghca();
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
    return new HghcaMemoryRegion(this, memory, access);
  }

  @Override
  protected MemoryRegion register(BufferPool.Buffer buffer, Set<AccessFlag> access) {
    return new HghcaMemoryRegion(this, buffer, access);
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    checkAlive();
    return new HghcaAddressHandle(this, vector);
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config) {
    checkAlive();
    if (device().card().limits().maxSrq() == 0) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "shared receive queues need a card that makes peers wait for receives; this card fails"
              + " them");
    }
    return device().sharesReceives()
        ? new HardwareSrq(this, config)
        : new SoftwareSrq(this, context, config);
  }

  @Override
  public QueuePair createQueuePair(QueuePairConfig config) {
    checkAlive();
    return new HghcaQueuePair(this, config);
  }

  @Override
  protected void release() {
    try (Undo undo = new Undo()) {
      undo.add(() -> device().pdNumbers().free(number));
      undo.add(rings::close);
      undo.add(() -> device().family().endDomain(number));
    }
  }
}
