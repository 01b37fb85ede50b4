package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.junit.jupiter.api.Test;

/** Flows without a source port of their own, since the process is at a limit. */
final class SourcePortsTest {
  private static final int FIRST = 3;

  private final List<Object> closed = new ArrayList<>();
  private int socket;

  private final SystemCalls calls =
      (SystemCalls)
          Proxy.newProxyInstance(
              SystemCalls.class.getClassLoader(),
              new Class<?>[] {SystemCalls.class},
              (self, method, arguments) ->
                  switch (method.getName()) {
                    case "socket" -> socket;
                    case "close" -> closed.add(arguments[0]) ? 0 : -1;
                    default -> 0;
                  });

  private SourcePorts ports(LinkWatch watch) {
    return new SourcePorts(
        calls, "udp:127.0.0.1", LocalAddress.parse("127.0.0.1"), watch, FIRST, 4);
  }

  /** A poller that accepts descriptors, or fails. */
  private static LinkWatch watch(boolean fails) {
    return new LinkWatch() {
      @Override
      public void add(int descriptor, int events) {
        if (fails) {
          throw new LinkException(LinkException.Reason.SYSTEM, "no room");
        }
      }

      @Override
      public void change(int descriptor, int events) {}

      @Override
      public void remove(int descriptor) {
        throw new AssertionError();
      }

      @Override
      public void pollSoon() {}
    };
  }

  @Test
  void flowWithoutASocketOfItsOwnSharesTheFirst() {
    socket = -LinuxErrno.EMFILE.number();
    SourcePorts ports = ports(watch(false));
    int index = ports.choose(0xc123);
    assertThat(ports.socket(index)).isEqualTo(FIRST);
    assertThat(ports.port(index)).isEqualTo(4791);
    assertThat(ports.choose(0xc123)).isEqualTo(index);
  }

  @Test
  void unwatchedSocketIsClosed() {
    socket = 7;
    SourcePorts ports = ports(watch(true));
    assertThat(ports.socket(ports.choose(0xc123))).isEqualTo(FIRST);
    assertThat(closed).containsExactly(7);
  }
}
