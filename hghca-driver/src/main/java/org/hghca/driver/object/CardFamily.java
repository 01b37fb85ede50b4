package org.hghca.driver.object;

import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
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
import org.hghca.provider.queue.SpinLock;
import org.hghca.uar.UarPage;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/**
 * What a device's objects are made of on its kind of card: rings, parsers, state flows, and what
 * the driver does for all of them. {@link DocumentFamily} is the one of cards that follow the
 * interface document. The bring-up selects it; nothing else asks which one it is. Thread-safe.
 */
public interface CardFamily {

  // ---- the device

  /** Registers the memory that it needs, before the event queues. */
  void open();

  /** Starts its thread, after the event queues. */
  void start();

  /** Ends its thread, before the event queues. */
  void stop();

  /** Releases its memory, after the event queues. */
  void close();

  /** What it had to do since the bring-up. */
  FamilyCounts counts();

  // ---- memory

  /** Requests may name memory from here on. */
  void admit(KeyedMemory memory);

  /**
   * Requests may no longer name memory.
   *
   * @throws VerbsException EBUSY when an outstanding request names it; nothing has changed
   */
  void withdraw(KeyedMemory memory);

  /**
   * A protection domain has no queue pairs any more: releases what it holds for them.
   *
   * @param pd its number
   */
  void endDomain(int pd);

  // ---- queue pairs

  /** Whether threads of the driver use the rings of a queue pair, beside those of its program. */
  boolean sharesRings();

  /**
   * The send ring of a queue pair.
   *
   * @param lock null when one thread does all posting
   * @param refusal makes the exception for posting to a closed ring
   * @param pd its protection domain
   */
  SendRing sends(
      RingShape shape,
      SendWriter writer,
      UarPage uar,
      SpinLock lock,
      Supplier<BadRequestException> refusal,
      int pd);

  /**
   * The receive ring of a queue pair.
   *
   * @param pd its protection domain
   */
  ReceiveRing receives(QpType type, RingShape shape, int maxSge, int pd);

  /** The form of the contexts of queue pairs. */
  ContextForm contexts();

  /**
   * The states of a queue pair.
   *
   * @param sends the parser of the completion queue of its sends
   * @param receives that of its receives
   */
  StateFlow stateFlow(
      DriverQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      CompletionParser sends,
      CompletionParser receives);

  /**
   * The memory for the PSN wrap that a reliable queue pair offers its peer; empty where none is
   * needed.
   *
   * @param pd its protection domain
   */
  Optional<WrapMemory> offerWrapMemory(int pd);

  /** A reliable queue pair, not in RTS yet, may use its peer's memory for the PSN wrap. */
  void takeWrapMemory(DriverQueuePair qp, WrapMemory ofPeer, int pd);

  // ---- completion queues

  /**
   * The parser of a completion queue, to be closed with it.
   *
   * @param queue its name, for messages
   * @param lock of the queue
   */
  CompletionParser parser(String queue, CompletionRing ring, SpinLock lock);

  /**
   * Frees the number of a completion queue, which the card has released.
   *
   * @param end the slot behind the last completion, at which a card may continue under this number
   * @param used whether the queue has had completions
   */
  void freeCompletionQueue(int number, int end, boolean used);
}
