package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The error names the reason why a socket cannot be opened, with the fix. */
final class UserProviderTest {
  private final SystemCalls linux = Linux.system();

  @TempDir Path directory;
  private Map<String, Integer> before;

  @BeforeEach
  void count() {
    before = Descriptors.open();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(Descriptors.open()).isEqualTo(before);
  }

  private String socket() {
    return directory.resolve("hca.sock").toString();
  }

  @Test
  void noFunctionIsListed() {
    UserProvider provider = new UserProvider();
    assertThat(provider.scheme()).isEqualTo("vfio-user");
    assertThat(provider.enumerate()).isEmpty();
  }

  @Test
  void missingSocketNamesTheCommandThatStartsAServer() {
    assertReason(Reason.NOT_FOUND, () -> PciFunctions.open(Locator.parse("vfio-user:" + socket())))
        .hasMessageContainingAll(
            "there is no socket", socket(), "hghca model serve --socket " + socket());
  }

  @Test
  void socketWithoutAServerIsReported() {
    new FakeServer(directory).close();
    String left = directory.resolve("fake.sock").toString();
    assertThat(Path.of(left)).exists();
    assertReason(Reason.NOT_FOUND, () -> PciFunctions.open(Locator.parse("vfio-user:" + left)))
        .hasMessageContainingAll(
            "no server listens any more", "hghca model serve --socket " + left);
  }

  @Test
  void otherFileThanASocketIsReported() throws IOException {
    Files.writeString(Path.of(socket()), "no socket");
    assertReason(Reason.NOT_FOUND, () -> PciFunctions.open(Locator.parse("vfio-user:" + socket())));
  }

  @ParameterizedTest
  @CsvSource({
    "13, NO_PERMISSION, no permission",
    "1, NO_PERMISSION, no permission",
    "11, BUSY, too many"
  })
  void refusalOfTheKernelIsReported(int error, Reason reason, String said) {
    Locator locator = Locator.parse("vfio-user:" + socket());
    assertReason(reason, () -> UserFunction.open(connecting(-error), locator))
        .hasMessageContainingAll(said, socket());
  }

  /** Linux, except for the result of connecting. */
  private SystemCalls connecting(int answer) {
    return (SystemCalls)
        Proxy.newProxyInstance(
            SystemCalls.class.getClassLoader(),
            new Class<?>[] {SystemCalls.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("connect")) {
                return answer;
              }
              try {
                return method.invoke(linux, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "timeout=5",
        "timeout=",
        "timeout=PT0S",
        "timeout=-PT1S",
        "timeout=P2D",
        "posted=maybe",
        "posted="
      })
  void invalidParameterIsNamed(String parameter) {
    Locator locator = Locator.parse("vfio-user:" + socket() + "?" + parameter);
    assertReason(Reason.INVALID, () -> PciFunctions.open(locator))
        .hasMessageContaining(parameter + " is invalid");
  }

  @ParameterizedTest
  @CsvSource({
    "vfio-user:/a.sock, PT10S",
    "vfio-user:/a.sock?slow=60, PT10M",
    "vfio-user:/a.sock?slow=60&timeout=PT5S, PT5S"
  })
  void serverHasTenSecondsOfTheCardsTimeByDefault(String locator, Duration limit) {
    assertThat(UserOptions.of(Locator.parse(locator)).limit()).isEqualTo(limit);
  }

  @Test
  void unknownParameterIsNamedWithTheKnownOnes() {
    Locator locator = Locator.parse("vfio-user:" + socket() + "?time=PT5S&slow=2");
    assertReason(Reason.INVALID, () -> PciFunctions.open(locator))
        .hasMessageContaining("unknown parameter 'time'; known are as,")
        .hasMessageContaining("posted, ring, slow, timeout");
  }
}
