package org.hghca.virtio.driver;

import org.hghca.provider.Health;
import org.hghca.provider.srq.DealtRing;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.VirtioException;

/**
 * The receives of a queue pair, to which a shared receive queue deals its requests. Failures of the
 * device end it, and not the call that deals: it may be for another queue pair.
 */
final class DealtReceives implements DealtRing {
  private final ReceiveQueue receives;
  private final Health health;

  DealtReceives(ReceiveQueue receives, Health health) {
    this.receives = receives;
    this.health = health;
  }

  @Override
  public int slots() {
    return receives.slots();
  }

  @Override
  public int head() {
    return receives.head();
  }

  @Override
  public int tail() {
    return receives.tail();
  }

  @Override
  public boolean hasRoom() {
    try {
      return receives.hasRoom();
    } catch (VirtioException | VfioException | InternalError e) {
      health.fail(e.getMessage());
      return false;
    }
  }

  @Override
  public boolean post(ReceiveRequest request, int index) {
    return receives.post(request, index);
  }

  @Override
  public void publish() {
    try {
      receives.kick();
    } catch (VirtioException | VfioException | InternalError e) {
      health.fail(e.getMessage());
    }
  }

  @Override
  public void reset() {
    receives.clear();
  }
}
