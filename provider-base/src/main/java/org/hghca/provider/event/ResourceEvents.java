package org.hghca.provider.event;

import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.provider.Resource;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEvents;

/** The asynchronous events of a context. */
public final class ResourceEvents extends EventFifo<AsyncEvent> implements AsyncEvents {
  private static final ConditionLog LOG = ConditionLog.of(ResourceEvents.class);
  private static final int KEPT = 4096;

  private final String device;
  private long lost;

  public ResourceEvents(String device) {
    super(KEPT);
    this.device = device;
  }

  private static ResourceEvent own(AsyncEvent event) {
    return (ResourceEvent) event;
  }

  @Override
  protected boolean isLive(AsyncEvent event) {
    return own(event).isLive();
  }

  @Override
  protected boolean take(AsyncEvent event) {
    return own(event).take();
  }

  @Override
  protected void putBack(AsyncEvent event) {
    own(event).putBack();
  }

  @Override
  protected void dropped(AsyncEvent event) {
    if (lost++ == 0) {
      LOG.warn(
          About.device(device),
          "the program does not read its asynchronous events; {} is dropped, and so are later ones",
          event);
    }
  }

  /** Drops the untaken events of an object. */
  public void removeOf(Resource object) {
    removeIf(event -> own(event).isOf(object));
  }
}
