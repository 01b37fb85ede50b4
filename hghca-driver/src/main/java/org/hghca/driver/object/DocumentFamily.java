package org.hghca.driver.object;

import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.DocumentParser;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.driver.state.ContextForm;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QueuePairState;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.driver.transition.StateFlow;
import org.hghca.driver.transition.StateFlowByCard;
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrapMemory;

/**
 * Cards that follow the interface document: they report bad requests, take all doorbells, time out
 * and flush themselves, so that the driver has nothing to do for them.
 *
 * <p>Where the document is silent the driver uses what this project defines and the software HCA
 * implements, marked EXTENSION in {@code org.hghca.abi}. A card announces most of it, each as a
 * {@link org.hghca.abi.DeviceExtension}, and the driver does without what is not announced. These
 * it takes for granted: the entries of event queues and the doorbells that arm event and completion
 * queues ({@link org.hghca.driver.event.DeviceEvents}), and the mark of sends in error completions,
 * without which {@link CompletionParser} decides by queue and offset.
 */
public final class DocumentFamily implements CardFamily {
  private final DeviceParts device;

  public DocumentFamily(DeviceParts device) {
    this.device = device;
  }

  @Override
  public void open() {}

  @Override
  public void start() {}

  @Override
  public void stop() {}

  @Override
  public void close() {}

  @Override
  public FamilyCounts counts() {
    return FamilyCounts.NONE;
  }

  @Override
  public void admit(KeyedMemory memory) {}

  @Override
  public void withdraw(KeyedMemory memory) {}

  @Override
  public void endDomain(int pd) {}

  @Override
  public boolean sharesRings() {
    return false;
  }

  @Override
  public SendRing sends(
      RingShape shape,
      SendWriter writer,
      UarPage uar,
      SpinLock lock,
      Supplier<BadRequestException> refusal,
      int pd) {
    return new SendRing(shape, writer, uar, lock, refusal);
  }

  @Override
  public ReceiveRing receives(QpType type, RingShape shape, int maxSge, int pd) {
    return new ReceiveRing(shape, maxSge);
  }

  @Override
  public ContextForm contexts() {
    return ContextForm.PLAIN;
  }

  @Override
  public StateFlow stateFlow(
      DriverQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      CompletionParser sends,
      CompletionParser receives) {
    return new StateFlowByCard(
        qp, state, context, device.card().commands(), device.deliverEvents(), device.qpNumbers());
  }

  @Override
  public Optional<WrapMemory> offerWrapMemory(int pd) {
    return Optional.empty();
  }

  @Override
  public void takeWrapMemory(DriverQueuePair qp, WrapMemory ofPeer, int pd) {}

  @Override
  public CompletionParser parser(String queue, CompletionRing ring, SpinLock lock) {
    return new DocumentParser(queue, ring, device.rings(), device.card().health());
  }

  @Override
  public void freeCompletionQueue(int number, int end, boolean used) {
    device.cqNumbers().free(number);
  }
}
