package org.hghca.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;

/** A member of a cluster, by the stack of the jar; members of one process find each other in it. */
final class Member implements AutoCloseable, Receiver {
  static final Duration SOON = Duration.ofSeconds(30);

  final JChannel channel;
  final BlockingQueue<Message> received = new LinkedBlockingQueue<>();

  private Member(JChannel channel) {
    this.channel = channel;
  }

  /** A member that is not in a cluster yet. */
  static Member of(String name, String device) throws Exception {
    return of(name, Map.of("device", device));
  }

  /** With attributes of the transport. */
  static Member of(String name, Map<String, String> attributes) throws Exception {
    Member member = new Member(new JChannel(stack(attributes)).name(name));
    member.channel.setReceiver(member);
    return member;
  }

  /** The stack of the jar, with a discovery that needs no network, and short waits. */
  static InputStream stack(Map<String, String> attributes) throws IOException {
    StringBuilder given = new StringBuilder("<org.hghca.jgroups.RDMA\n");
    attributes.forEach((key, value) -> given.append("%s=\"%s\"\n".formatted(key, value)));
    try (InputStream in = RDMA.class.getResourceAsStream("/rdma.xml")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String key : attributes.keySet()) {
        text = text.replaceFirst("\\s" + key + "=\"[^\"]*\"", "");
      }
      text =
          text.replace("<org.hghca.jgroups.RDMA", given)
              .replaceFirst("<MPING[^>]*/>", "<LOCAL_PING/>");
      if (!attributes.getOrDefault("device", "").contains("127.0.")) {
        text = text.replaceFirst("<FD_SOCK2[^>]*/>", ""); // not an address of the machine
      }
      text = text.replace("${jgroups.join_timeout:2s}", "500");
      return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  Member connect(String cluster) throws Exception {
    channel.connect(cluster);
    return this;
  }

  RDMA transport() {
    return (RDMA) channel.getProtocolStack().getTransport();
  }

  /** Waits until the cluster has so many members. */
  Member awaitMembers(int count) {
    await(() -> channel.getView().size() == count);
    assertThat(channel.getView().getMembers()).hasSize(count);
    return this;
  }

  /** Waits until something holds, or for long enough; the caller asserts what it waits for. */
  static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + SOON.toNanos();
    while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
  }

  /** Sends to a member. */
  void send(Member to, byte[] bytes) throws Exception {
    channel.send(new BytesMessage(to.channel.getAddress(), bytes));
  }

  /** Sends to all, this one too. */
  void sendToAll(byte[] bytes) throws Exception {
    channel.send(new BytesMessage(null, bytes));
  }

  /** The next message, from a member. */
  byte[] next(Member from) throws InterruptedException {
    Message message = received.poll(SOON.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(message).as("a message from %s", from.channel.getName()).isNotNull();
    assertThat(message.getSrc()).isEqualTo(from.channel.getAddress());
    byte[] bytes = new byte[message.getLength()];
    System.arraycopy(message.getArray(), message.getOffset(), bytes, 0, bytes.length);
    return bytes;
  }

  @Override
  public void receive(Message message) {
    received.add(message);
  }

  @Override
  public void close() {
    channel.close();
  }
}
