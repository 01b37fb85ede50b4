package org.hghca.sockets;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.hghca.sockets.stream.StreamOptions;

/**
 * The options of a channel that the platform does not hold: values are checked as the JDK does,
 * remembered, and answered. Thread-safe.
 */
final class OptionValues {
  /** Of jdk.net, which an image may lack. */
  private static final String KEEP_IDLE = "TCP_KEEPIDLE";

  private static final int LONGEST_LINGER = 65535;
  private static final int HIGHEST_TOS = 255;

  private final Map<SocketOption<?>, Object> defaults;
  private final Map<SocketOption<?>, Object> set = new HashMap<>();

  /**
   * The values of a new channel.
   *
   * @param defaults of all options that are known
   */
  OptionValues(Map<SocketOption<?>, Object> defaults) {
    this.defaults = defaults;
  }

  /** What a new channel of the platform says. */
  static Map<SocketOption<?>, Object> defaults(NetworkChannel channel) throws IOException {
    Map<SocketOption<?>, Object> defaults = new HashMap<>();
    for (SocketOption<?> option : channel.supportedOptions()) {
      defaults.put(option, channel.getOption(option));
    }
    return defaults;
  }

  Set<SocketOption<?>> supported() {
    return Set.copyOf(defaults.keySet());
  }

  synchronized void set(SocketOption<?> option, Object value) {
    check(option);
    set.put(option, checked(option, value));
  }

  synchronized <T> T get(SocketOption<T> option) {
    check(option);
    Object value = set.getOrDefault(option, defaults.get(option));
    return value == null ? null : option.type().cast(value);
  }

  private void check(SocketOption<?> option) {
    Objects.requireNonNull(option);
    if (!defaults.containsKey(option)) {
      throw new UnsupportedOperationException("'" + option + "' not supported");
    }
  }

  private static Object checked(SocketOption<?> option, Object value) {
    if (value == null) {
      throw new IllegalArgumentException("Invalid option value");
    }
    Object typed = option.type().cast(value);
    if (!(typed instanceof Integer number)) {
      return typed;
    }
    if ((option.equals(StandardSocketOptions.SO_RCVBUF)
            || option.equals(StandardSocketOptions.SO_SNDBUF))
        && number < 0) {
      throw new IllegalArgumentException("Invalid send/receive buffer size");
    }
    if (option.equals(StandardSocketOptions.IP_TOS) && (number < 0 || number > HIGHEST_TOS)) {
      throw new IllegalArgumentException("Invalid IP_TOS value");
    }
    if (option.equals(StandardSocketOptions.SO_LINGER)) {
      return Math.clamp(number, -1, LONGEST_LINGER);
    }
    return number;
  }

  /** Gives them to a channel of the platform. */
  @SuppressWarnings("unchecked")
  synchronized void giveTo(NetworkChannel channel) throws IOException {
    for (Map.Entry<SocketOption<?>, Object> entry : set.entrySet()) {
      channel.setOption((SocketOption<Object>) entry.getKey(), entry.getValue());
    }
  }

  /** Those of a connection that a listener with these options accepts. */
  synchronized OptionValues accepted(Map<SocketOption<?>, Object> defaults) {
    OptionValues values = new OptionValues(defaults);
    set.forEach(
        (option, value) -> {
          if (defaults.containsKey(option)) {
            values.set.put(option, value);
          }
        });
    return values;
  }

  /** What they mean to a stream. */
  synchronized StreamOptions stream(StreamOptions otherwise) {
    StreamOptions options =
        otherwise.withKeepAlive(keepAlive(), keepIdle(otherwise.keepIdleSeconds()));
    if (set.get(StandardSocketOptions.SO_RCVBUF) instanceof Integer bytes) {
      options = options.withReceiveBuffer(bytes);
    }
    if (set.get(StandardSocketOptions.SO_SNDBUF) instanceof Integer bytes) {
      options = options.withSendBuffer(bytes);
    }
    return options;
  }

  /** Whether close drops what is under way. */
  synchronized boolean lingersNot() {
    return Integer.valueOf(0).equals(set.get(StandardSocketOptions.SO_LINGER));
  }

  synchronized boolean keepAlive() {
    return Boolean.TRUE.equals(set.get(StandardSocketOptions.SO_KEEPALIVE));
  }

  synchronized int keepIdle(int otherwise) {
    for (Map.Entry<SocketOption<?>, Object> entry : set.entrySet()) {
      if (entry.getKey().name().equals(KEEP_IDLE) && entry.getValue() instanceof Integer seconds) {
        return seconds;
      }
    }
    return otherwise;
  }
}
