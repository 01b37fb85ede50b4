package org.hghca.jgroups;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.jgroups.stack.IpAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong attributes name the attribute and what there is; strangers do not harm a cluster. */
class BadInputTest {
  private static final String DEVICE = "model:%1$d?hub=bad&ip=10.7.7.%1$d";

  private final List<Member> members = new ArrayList<>();

  @AfterEach
  void close() {
    members.reversed().forEach(Member::close);
  }

  private Member member(Map<String, String> attributes) throws Exception {
    Member member = Member.of("m", attributes);
    members.add(member);
    return member.connect("bad");
  }

  private Member member(int number) throws Exception {
    return member(Map.of("device", DEVICE.formatted(number)));
  }

  private static void assertFails(ThrowingCallable start, String... parts) {
    assertThatThrownBy(start).satisfies(failure -> assertThat(chain(failure)).contains(parts));
  }

  private static String chain(Throwable failure) {
    StringBuilder all = new StringBuilder();
    for (Throwable at = failure; at != null; at = at.getCause()) {
      all.append(at.getMessage()).append('\n');
    }
    return all.toString();
  }

  @Test
  void deviceThatThereIsNotIsNamed() {
    assertFails(() -> member(Map.of("device", "hghca77")), "no RDMA device 'hghca77'");
  }

  @Test
  void addressThatTheDeviceDoesNotHaveIsNamedWithThoseThatItHas() {
    assertFails(
        () -> member(Map.of("device", DEVICE.formatted(1), "bind_addr", "10.7.7.9")),
        "RDMA.bind_addr=10.7.7.9",
        "it has 10.7.7.1");
  }

  @Test
  void addressOfTheDeviceNeedsNotBeOneOfTheMachine() throws Exception {
    Member member = member(Map.of("device", DEVICE.formatted(1), "bind_addr", "10.7.7.1"));
    assertThat(member.transport().localPhysicalAddress())
        .isEqualTo(new IpAddress("10.7.7.1", 7800));
  }

  @Test
  void nextFreePortIsTakenAndTheLastIsTheEnd() throws Exception {
    Map<String, String> attributes = Map.of("device", DEVICE.formatted(1), "port_range", "1");
    member(attributes);
    Member second = member(attributes);
    assertThat(second.transport().localPhysicalAddress())
        .isEqualTo(new IpAddress("10.7.7.1", 7801));
    assertFails(() -> member(attributes), "RDMA.bind_port=7800 to 7801", "port_range");
  }

  @ParameterizedTest
  @CsvSource({
    "buffer_size, 100, at least 256",
    "buffers, 1, 4 to 4096",
    "send_buf_size, 70000, at least 4 times buffer_size",
    "max_length, 0, above 0"
  })
  void attributeOutOfItsRangeIsNamed(String attribute, String value, String range) {
    assertFails(
        () -> member(Map.of("device", DEVICE.formatted(1), attribute, value)),
        "RDMA.%s=%s".formatted(attribute, value),
        range);
  }

  @Test
  void bundleThatIsTooLongIsAnErrorThatNamesTheAttribute() throws Exception {
    Member member = member(Map.of("device", DEVICE.formatted(1), "max_length", "1000"));
    assertThatThrownBy(
            () ->
                member
                    .transport()
                    .sendUnicast(new IpAddress("10.7.7.2", 7800), new byte[1001], 0, 1001))
        .hasMessageContaining("RDMA.max_length is 1000");
  }

  @Test
  void strangerWhoAsksWithoutAGreetingIsRefused() throws Exception {
    Member a = member(1);
    Member b = member(2);
    try (Context stranger = RdmaDevices.open(DEVICE.formatted(3))) {
      RdmaOptions options =
          RdmaOptions.DEFAULT.withDevice(stranger).withPrivateData("a stranger".getBytes(US_ASCII));
      assertThatThrownBy(() -> RdmaConnection.connect(listener(1), options))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED));
    }
    assertTheClusterGoesOn(a, b);
  }

  private static InetSocketAddress listener(int number) {
    return new InetSocketAddress("10.7.7." + number, 7800);
  }

  /** Frames that are too short, of no kind, of a length that is not theirs, and no bundle. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "00",
        "0700000000000000",
        "02000000000000ff00",
        "010000007fffffff00",
        "0000ffff00000000",
        "0100000000000004ffffffff"
      })
  void memberThatSendsGarbageHarmsNobody(String frame) throws Exception {
    Member a = member(1);
    Member b = member(2);
    byte[] bytes = HexFormat.of().parseHex(frame);
    Greeting greeting = new Greeting(new IpAddress("10.7.7.3", 7800), 1, 1, 1024, 8);
    try (Context context = RdmaDevices.open(DEVICE.formatted(3));
        RdmaConnection stranger =
            RdmaConnection.connect(
                listener(1),
                RdmaOptions.DEFAULT.withDevice(context).withPrivateData(greeting.toBytes()));
        MemoryRegion memory =
            stranger.protectionDomain().allocate(bytes.length, AccessFlag.LOCAL_WRITE)) {
      memory.segment().copyFrom(MemorySegment.ofArray(bytes));
      stranger.queuePair().postSend(new SendRequest(1).send().sge(memory).signaled());
      if (!frame.startsWith("0100000000000004")) {
        stranger.closed().get(Member.SOON.toSeconds(), TimeUnit.SECONDS);
      }
    }
    assertTheClusterGoesOn(a, b);
  }

  private static void assertTheClusterGoesOn(Member a, Member b) throws Exception {
    a.awaitMembers(2);
    b.awaitMembers(2);
    a.send(b, new byte[] {1, 2, 3});
    assertThat(b.next(a)).containsExactly(1, 2, 3);
    b.send(a, new byte[] {4, 5, 6});
    assertThat(a.next(b)).containsExactly(4, 5, 6);
  }
}
