package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.hghca.provider.Undo;
import org.hghca.provider.object.AbstractProtectionDomain;
import org.hghca.provider.srq.SoftwareSrq;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.virtio.abi.roce.RoceCommand;

/** A protection domain. */
final class RoceProtectionDomain extends AbstractProtectionDomain {
  private static final Set<AccessFlag> UNSUPPORTED =
      EnumSet.of(AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND, AccessFlag.ON_DEMAND);

  private final RoceContext context;
  private final int number;

  RoceProtectionDomain(RoceContext context) {
    super(context, UNSUPPORTED);
    this.context = context;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      this.number = device().commands().create(RoceCommand.CREATE_PD, "another protection domain");
      publish();
      undo.forget();
    }
  }

  @Override
  public int number() {
    return number;
  }

  RoceDevice device() {
    return context.roce();
  }

  @Override
  public RoceContext context() {
    return context;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
    return new RoceMemoryRegion(this, memory, access);
  }

  @Override
  protected MemoryRegion register(BufferPool.Buffer buffer, Set<AccessFlag> access) {
    return new RoceMemoryRegion(this, buffer, access);
  }

  @Override
  protected RuntimeException failed(String what, RuntimeException e) {
    return Refusals.of(what, e);
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    checkAlive();
    return new RoceAddressHandle(this, device(), context.port(), vector);
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config) {
    checkAlive();
    return new SoftwareSrq(this, context, config);
  }

  @Override
  public QueuePair createQueuePair(QueuePairConfig config) {
    checkAlive();
    return new RoceQueuePair(this, config);
  }

  @Override
  protected void release() {
    device()
        .deferredFree()
        .retire(
            describe(),
            () -> device().commands().destroy(RoceCommand.DESTROY_PD, number, "the end of its PD"),
            () -> {},
            () -> {});
  }
}
