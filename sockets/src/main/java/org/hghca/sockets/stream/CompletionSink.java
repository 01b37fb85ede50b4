package org.hghca.sockets.stream;

import org.hghca.verbs.WcStatus;

/** Takes the completions of a stream's requests from its engine, one thread at a time. */
interface CompletionSink {
  /**
   * A message has arrived.
   *
   * @param word its immediate
   * @param length bytes that it wrote
   */
  void received(int word, long length);

  /**
   * A message has arrived that has no immediate.
   *
   * @param receive the number of the request that it took
   * @param length its bytes
   */
  void receivedAt(int receive, long length);

  /**
   * Messages were sent.
   *
   * @param stamp of the last of them
   */
  void sent(long stamp);

  /** A request failed. */
  void failed(WcStatus status);

  /**
   * The peer breaks the rules of the protocol.
   *
   * @param how what it sent
   */
  void violated(String how);

  /** No completion comes any more. */
  void broke();
}
