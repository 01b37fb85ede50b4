package org.hghca.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The protocol between the processes of the two sides, and violations of it. */
class TcpRendezvousTest {
  private static final Duration LONG = Duration.ofSeconds(50);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Executor OTHER_THREAD = task -> Thread.ofPlatform().start(task);

  private ServerSocketChannel listener;
  private Socket peer;
  private TcpRendezvous rendezvous;

  @BeforeEach
  void connect() throws IOException {
    listener =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
    peer = new Socket(address.getAddress(), address.getPort());
    rendezvous = TcpRendezvous.of(Side.CLIENT, listener.accept(), LONG);
  }

  @AfterEach
  void close() throws IOException {
    rendezvous.close();
    peer.close();
    listener.close();
  }

  private void send(String text) throws IOException {
    peer.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Everything that the rendezvous has sent, once it is closed. */
  private String said() throws IOException {
    rendezvous.close();
    InputStream in = peer.getInputStream();
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private String name() {
    return "client 127.0.0.1:" + peer.getLocalPort();
  }

  private static void assertFails(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(PeerException.class).hasMessageContaining(message);
  }

  @Test
  void linesFollowTheProtocol() throws IOException {
    send("hghca-demo 1\nvalue plan=1000 64\nat loaded\n");
    rendezvous.sendGreeting();
    rendezvous.receiveGreeting();
    assertThat(Plan.MESSAGE.receive(rendezvous, Side.CLIENT)).isEqualTo(new Plan(1000, 64));
    rendezvous.barrier("loaded");
    rendezvous.send("device", "model:a=b");
    assertThat(said()).isEqualTo("hghca-demo 1\nat loaded\nvalue device=model:a=b\n");
  }

  @Test
  void linesMayArriveInParts() throws Exception {
    CompletableFuture<Void> greeted =
        CompletableFuture.runAsync(rendezvous::receiveGreeting, OTHER_THREAD);
    for (char c : "hghca-demo 1\n".toCharArray()) {
      peer.setTcpNoDelay(true);
      send(String.valueOf(c));
    }
    greeted.get();
    send("value device=\u00e9\n");
    assertThat(rendezvous.receive("device")).isEqualTo("\u00e9");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\n",
        "\n",
        "hghca-demo\n",
        "hghca-demo one\n",
        "hghca-demo 1 \n",
        "hghca-demo 1234567890\n",
        "6.29\0\0\0\n"
      })
  void otherGreetingIsRefused(String garbage) throws IOException {
    send(garbage);
    assertFails(
        rendezvous::receiveGreeting,
        "what should be the " + name() + " is no hghca demo: it sent '");
  }

  @Test
  void otherGreetingIsQuotedBrieflyWithoutControlCharacters() throws IOException {
    send("\u001b[31m" + "x".repeat(3000) + "\n");
    assertThatThrownBy(rendezvous::receiveGreeting)
        .hasMessageEndingWith("it sent '?[31m" + "x".repeat(55) + "...'");
  }

  @Test
  void anotherVersionIsNamed() throws IOException {
    send("hghca-demo 2\n");
    assertFails(
        rendezvous::receiveGreeting,
        "the "
            + name()
            + " speaks version 2 of the demo and this side version 1: use the same release");
  }

  @Test
  void silenceTimesOut() {
    rendezvous.limit(SHORT);
    assertFails(rendezvous::receiveGreeting, "the " + name() + " sent no line for 50 ms");
  }

  @Test
  void singleBytesDoNotExtendTheWait() throws Exception {
    rendezvous.limit(SHORT);
    CompletableFuture<Void> greeted =
        CompletableFuture.runAsync(rendezvous::receiveGreeting, OTHER_THREAD);
    while (!greeted.isDone()) {
      send("x");
      LockSupport.parkNanos(1_000_000); // not so fast that the line becomes too long
    }
    assertThat(greeted)
        .failsWithin(LONG)
        .withThrowableThat()
        .havingCause()
        .withMessageEndingWith("sent no line for 50 ms");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hghca-de", "hghca-demo 1"})
  void endOfTheConnectionEndsTheWait(String before) throws IOException {
    send(before);
    peer.close();
    assertFails(rendezvous::receiveGreeting, "the client");
  }

  @Test
  void linesHaveALimit() throws IOException {
    String longest = "value device=" + "x".repeat(TcpRendezvous.MAX_LINE - 13);
    send(longest + "\n");
    assertThat(rendezvous.receive("device")).hasSize(TcpRendezvous.MAX_LINE - 13);
    send(longest + "x\n");
    assertFails(
        () -> rendezvous.receive("device"), name() + " sent a line of more than 4096 bytes");
  }

  @Test
  void linesOutOfStepFail() throws IOException {
    send("at connect\nat send\nvalue plan=1 8\n");
    rendezvous.barrier("connect");
    assertFails(
        () -> rendezvous.barrier("rdma read"),
        "is out of step: it sent 'at send' instead of 'at rdma read'");
    assertFails(
        () -> rendezvous.receive("address"),
        "is out of step: it sent 'value plan=1 8' instead of 'value address='");
  }

  @Test
  void controlCharactersAreRefused() throws IOException {
    send("value device=\u001b[2J\n");
    assertFails(() -> rendezvous.receive("device"), "which is no text");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1000",
        "1000 64 0",
        "1000 7",
        "1000 1048577",
        "-1 64",
        "3600000000001 64",
        "1000 many",
        "1000 99999999999999999999"
      })
  void plansAreChecked(String plan) throws IOException {
    send("value plan=" + plan + "\n");
    assertFails(
        () -> Plan.MESSAGE.receive(rendezvous, Side.CLIENT),
        "the client sent plan '" + plan + "': ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0000:000002:000000:fe80000000000000000000fffe000001 5 1000",
        "0000:000002:000000:fe80 5 00007f0000000000 00000001",
        "0000:000002:000000:fe80000000000000000000fffe000001 6 00007f0000000000 00000001",
        "0000:000002:000000:fe80000000000000000000fffe000001 5 00007f000000000000 00000001",
        "0000:000002:000000:fe80000000000000000000fffe000001 5 00007f0000000000 0x00000001",
        "0000:1000002:000000:fe80000000000000000000fffe000001 5 00007f0000000000 00000001"
      })
  void addressesAreChecked(String address) throws IOException {
    send("value address=" + address + "\n");
    assertFails(
        () -> Address.MESSAGE.receive(rendezvous, Side.CLIENT),
        "the client sent address '" + address);
  }

  @Test
  void addressesAreReadAsSent() throws IOException {
    send(
        "value address=0000:0000a2:123456:fe80000000000000000000fffe000001 5 ffff7f0000000000"
            + " f0000001\n");
    Address address = Address.MESSAGE.receive(rendezvous, Side.CLIENT);
    assertThat(address)
        .isEqualTo(
            new Address(
                new QpEndpoint(0, 0xa2, 0x12_3456, Gid.ofMac(0x0200_0000_0001L)),
                Mtu.MTU_4096,
                0xffff_7f00_0000_0000L,
                0xf000_0001));
    Address.MESSAGE.send(rendezvous, address);
    assertThat(said())
        .isEqualTo(
            "value address=0000:0000a2:123456:fe80000000000000000000fffe000001 5"
                + " ffff7f0000000000 f0000001\n");
  }

  @Test
  void memoryForThePsnWrapIsReadAsSent() throws IOException {
    String line =
        "value address=0000:0000a2:123456:fe80000000000000000000fffe000001"
            + ":81000002:ffffffffffffe000:00001000 5 ffff7f0000000000 f0000001\n";
    send(line);
    Address address = Address.MESSAGE.receive(rendezvous, Side.CLIENT);
    assertThat(address.endpoint().wrapMemory())
        .contains(new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_e000L, 4096));
    Address.MESSAGE.send(rendezvous, address);
    assertThat(said()).isEqualTo(line);
  }

  @Test
  void failureOfTheOtherSideIsReported() throws IOException {
    send("failed check 'send' failed: byte 0 differs\n");
    assertThatThrownBy(() -> rendezvous.barrier("send"))
        .hasMessage("the " + name() + " reports: check 'send' failed: byte 0 differs");
    // It knows.
    rendezvous.sendFailure(new CheckFailedException("send", "no completion"));
    assertThat(said()).isEqualTo("at send\n");
  }

  @Test
  void failuresOfBothSidesAreExchanged() throws IOException {
    send("at connect\nfailed check 'send' failed: byte 0 differs\n");
    RuntimeException why = new CheckFailedException("send", "no\ncompletion");
    rendezvous.sendFailure(why);
    assertThat(why.getSuppressed())
        .extracting(Throwable::getMessage)
        .containsExactly("the " + name() + " reports: check 'send' failed: byte 0 differs");
    assertThat(said()).isEqualTo("failed check 'send' failed: no?completion\n");
  }

  @Test
  void failedSideWaitsUntilTheOtherLeaves() throws Exception {
    RuntimeException why = new CheckFailedException("send", "no completion");
    CompletableFuture<Void> sent =
        CompletableFuture.runAsync(() -> rendezvous.sendFailure(why), OTHER_THREAD);
    String all = new String(peer.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(all).isEqualTo("failed check 'send' failed: no completion\n");
    assertThat(sent).isNotDone();
    peer.close();
    assertThat(sent).succeedsWithin(LONG);
    assertThat(why.getSuppressed()).isEmpty();
  }

  @Test
  void closingEndsTheWait() throws Exception {
    CompletableFuture<Void> greeted =
        CompletableFuture.runAsync(rendezvous::receiveGreeting, OTHER_THREAD);
    rendezvous.close();
    assertThat(greeted).failsWithin(LONG);
  }
}
