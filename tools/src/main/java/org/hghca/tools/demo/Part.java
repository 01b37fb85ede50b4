package org.hghca.tools.demo;

import java.util.function.Consumer;
import java.util.function.Function;
import org.hghca.programs.peer.PeerException;

/**
 * The object of one side in an example, which exists in the process that runs this side. An example
 * is written once, as the steps of both sides in order. Each process runs the steps of its side; a
 * process with both sides runs all of them, in one thread.
 */
sealed interface Part<E> {

  /** Server or client. */
  String role();

  /** Runs a step of this side. Steps of different sides are ordered by {@link Sides#barrier}. */
  void run(Consumer<? super E> step);

  /** The object that this side makes from this one. */
  <F> Part<F> map(Function<? super E, ? extends F> make);

  /**
   * A value of this side, which the other side receives.
   *
   * @return the value, on both sides
   * @throws PeerException when the other process does not send it
   */
  <T> T share(Message<T> message, Function<? super E, ? extends T> value);

  /** The object of a side that this process runs. */
  record Local<E>(String role, Rendezvous rendezvous, E object) implements Part<E> {
    @Override
    public void run(Consumer<? super E> step) {
      step.accept(object);
    }

    @Override
    public <F> Part<F> map(Function<? super E, ? extends F> make) {
      return new Local<>(role, rendezvous, make.apply(object));
    }

    @Override
    public <T> T share(Message<T> message, Function<? super E, ? extends T> value) {
      T known = value.apply(object);
      message.send(rendezvous, known);
      return known;
    }
  }

  /** The object of a side that another process runs. */
  record Remote<E>(String role, Rendezvous rendezvous) implements Part<E> {
    @Override
    public void run(Consumer<? super E> step) {}

    @Override
    public <F> Part<F> map(Function<? super E, ? extends F> make) {
      return new Remote<>(role, rendezvous);
    }

    @Override
    public <T> T share(Message<T> message, Function<? super E, ? extends T> value) {
      return message.receive(rendezvous, role);
    }
  }
}
