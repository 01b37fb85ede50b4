package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.hghca.vfio.user.UserStructures.WriteMulti;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever a client sends, the server replies to it or hangs up, leaks nothing and serves the next
 * one. {@code -Dhghca.fuzz=} is the number of messages for each seed.
 */
@Timeout(600)
final class HostileClientTest {
  private static final Integer ASKED = Integer.getInteger("hghca.fuzz");
  private static final int MESSAGES = ASKED == null ? 1500 : ASKED;

  /** Where memory without a descriptor is mapped for {@link Throw#WRONG_ANSWER}. */
  private static final long REMOTE = 0x90_0000;

  /** Boundary values. */
  private static final long[] EDGES = {
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    15,
    16,
    17,
    23,
    24,
    31,
    32,
    33,
    63,
    64,
    255,
    256,
    4095,
    4096,
    4097,
    0xffff,
    0x1_0000,
    0x10_0000,
    0x7fff_f000,
    0x7fff_ffffL,
    0x8000_0000L,
    0xffff_f000L,
    0xffff_ffffL,
    0x1_0000_0000L,
    0x7fff_ffff_ffff_f000L,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -4096,
    -8,
    -1
  };

  /** The kinds of messages. */
  private enum Throw {
    COMMAND,
    WRONG_NUMBERS,
    WRONG_LENGTH,
    WRONG_SIZE_IN_HEADER,
    UNKNOWN_COMMAND,
    REPLY_TO_NOTHING,
    WRONG_TYPE,
    DESCRIPTORS,
    WRONG_ANSWER,
    CUT_OFF,
    GARBAGE
  }

  private final SystemCalls linux = Linux.system();
  private final Map<Throw, Integer> thrown = new EnumMap<>(Throw.class);
  private final List<Integer> descriptors = new ArrayList<>();
  private Random random;
  private int refused;
  private int done;
  private int hungUp;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void serverOutlivesHostileClients(long seed) {
    random = new Random(seed);
    try (Served served = new Served(directory)) {
      Map<String, Integer> before = Descriptors.open();
      for (int left = MESSAGES; left > 0; ) {
        left -= converse(served.path, left);
        good(served);
        served.awaitNobody();
        assertThat(served.server.mappings()).as("seed %d", seed).isZero();
        assertThat(Descriptors.open()).as("seed %d", seed).isEqualTo(before);
      }
    }
    if (ASKED != null) {
      System.out.printf(
          "hostile client, seed %d: %d messages (%s), %d done, %d refused, %d hung up on%n",
          seed, MESSAGES, thrown, done, refused, hungUp);
    }
    assertThat(done).isGreaterThan(MESSAGES / 50);
    assertThat(hungUp).isGreaterThan(MESSAGES / 20);
    assertThat(refused).isGreaterThan(MESSAGES / 10);
  }

  /** A correct client is served. */
  private static void good(Served served) {
    try (RawClient client = RawClient.greeted(served.path)) {
      int file = client.memory(8192);
      int event = client.event();
      assertThat(client.map(0x10_0000, 8192, file, 0)).isZero();
      linuxClose(client, file);
      assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | IrqSet.ACTION_TRIGGER, 0, 1, event))
          .isZero();
      assertThat(served.device.write(0x10_0ff8, 42)).isTrue();
      assertThat(served.device.read(0x10_0ff8)).isEqualTo(42);
      served.device.bus().raise(0);
      assertThat(client.count(event)).isEqualTo(1);
      linuxClose(client, event);
      assertThat(client.read(0, 0, 4)).isZero();
      served.device.calls.clear();
    }
  }

  private static void linuxClose(RawClient client, int descriptor) {
    assertThat(client.linux.close(descriptor)).isZero();
  }

  /** Sends messages until the server hangs up, or enough; returns how many. */
  private int converse(String path, int most) {
    int count = 0;
    try (RawClient client =
        random.nextInt(20) == 0 ? RawClient.connect(path) : RawClient.greeted(path)) {
      int limit = Math.min(most, 1 + random.nextInt(60));
      while (count < limit) {
        Throw what = Throw.values()[random.nextInt(Throw.values().length)];
        thrown.merge(what, 1, Integer::sum);
        count++;
        if (!hurl(client, what)) {
          hungUp++;
          return count;
        }
      }
      return count;
    } catch (VfioException e) {
      hungUp++; // the server did, while this sent
      return count;
    }
  }

  /** Sends a message; returns whether the server is still connected. */
  private boolean hurl(RawClient client, Throw what) {
    try {
      command(client);
      UserMessage out = client.out;
      switch (what) {
        case COMMAND -> {}
        case WRONG_NUMBERS -> {
          for (int i = 1 + random.nextInt(3); i > 0; i--) {
            if (out.payloadBytes() >= 8) {
              int at = random.nextInt(out.payloadBytes() / 4 - 1) * 4;
              if (random.nextBoolean()) {
                out.putInt(at, (int) edge());
              } else {
                out.putLong(at, edge());
              }
            }
          }
        }
        case WRONG_LENGTH -> resize(out, random.nextInt(80));
        case WRONG_SIZE_IN_HEADER -> {
          out.memory().set(ValueLayout.JAVA_INT, UserMessage.SIZE, (int) edge());
          client.channel.send(out);
          return false; // the rest of the stream is undefined
        }
        case UNKNOWN_COMMAND ->
            out.memory().set(ValueLayout.JAVA_SHORT, UserMessage.COMMAND, (short) edge());
        case REPLY_TO_NOTHING -> {
          out.memory().set(ValueLayout.JAVA_INT, UserMessage.FLAGS, 1 | random.nextInt(4) << 4);
          client.channel.send(out);
          return client.channel.receive(client.in);
        }
        case WRONG_TYPE ->
            out.memory().set(ValueLayout.JAVA_INT, UserMessage.FLAGS, 2 + random.nextInt(14));
        case DESCRIPTORS -> attach(client, random.nextInt(20));
        case WRONG_ANSWER -> {
          return answer(client);
        }
        case CUT_OFF -> {
          int length = UserMessage.HEADER_BYTES + out.payloadBytes();
          attach(client, random.nextInt(3));
          sendPart(client, random.nextInt(length));
          return false;
        }
        case GARBAGE -> {
          for (int i = 0; i < out.payloadBytes(); i++) {
            out.putByte(i, random.nextInt(256));
          }
        }
      }
      if (random.nextInt(12) == 0) {
        attach(client, 1);
      }
      client.channel.send(out);
      if (!out.wantsReply()) {
        return true;
      }
      if (!client.channel.receive(client.in)) {
        return false;
      }
      assertThat(client.in.isReply()).isTrue();
      assertThat(client.in.id()).isEqualTo(out.id());
      if (client.in.isFailed()) {
        refused++;
      } else {
        done++;
      }
      return true;
    } finally {
      descriptors.forEach(linux::close);
      descriptors.clear();
    }
  }

  private static void resize(UserMessage out, int payload) {
    int id = out.id();
    int command = out.command();
    // Descriptors are not sent along.
    byte[] bytes =
        out.memory()
            .asSlice(UserMessage.HEADER_BYTES, out.payloadBytes())
            .toArray(ValueLayout.JAVA_BYTE);
    out.command(id, UserCommand.VERSION, 0, payload);
    out.memory().set(ValueLayout.JAVA_SHORT, UserMessage.COMMAND, (short) command);
    for (int i = 0; i < payload; i++) {
      out.putByte(i, i < bytes.length ? bytes[i] : 0);
    }
  }

  /** Sends the first bytes of the started message, and the descriptors. */
  private static void sendPart(RawClient client, int bytes) {
    if (bytes <= UserMessage.HEADER_BYTES) {
      bytes = UserMessage.HEADER_BYTES;
    }
    int size = UserMessage.HEADER_BYTES + client.out.payloadBytes() + 1;
    client.out.receivePayload(bytes - UserMessage.HEADER_BYTES);
    client.out.memory().set(ValueLayout.JAVA_INT, UserMessage.SIZE, size);
    client.channel.send(client.out);
  }

  /**
   * Makes the device read memory that the client must serve, and serves it wrongly, or correctly in
   * the end.
   */
  private boolean answer(RawClient client) {
    client.beginMap(REMOTE, 4096, 0, DmaMap.FLAG_READ);
    client.out.memory().set(ValueLayout.JAVA_INT, UserMessage.FLAGS, UserMessage.NO_REPLY);
    client.channel.send(client.out);
    client.beginWrite(2, 0, 8, REMOTE + 8L * random.nextInt(512));
    int id = client.out.id();
    client.channel.send(client.out);
    do {
      if (!client.channel.receive(client.in)) {
        return false;
      }
      if (client.in.isReply()) {
        return true; // not greeted, or mapped over
      }
      int wrong = random.nextInt(8);
      client.out.reply(client.in, wrong == 0 ? random.nextInt(64) : 24);
      switch (wrong) {
        case 1 -> client.out.memory().set(ValueLayout.JAVA_SHORT, UserMessage.ID, (short) edge());
        case 2 ->
            client.out.memory().set(ValueLayout.JAVA_SHORT, UserMessage.COMMAND, (short) edge());
        case 3 -> client.out.failure(client.in, (int) edge());
        case 4 -> attach(client, 1 + random.nextInt(3));
        case 5 -> {
          return false; // and hangs up
        }
        default -> {}
      }
      client.channel.send(client.out);
    } while (client.in.id() != id || !client.in.isReply());
    return true;
  }

  /** Attaches descriptors of any kind. */
  private void attach(RawClient client, int count) {
    for (int i = 0; i < count; i++) {
      attachOne(
          client,
          switch (random.nextInt(5)) {
            case 0 -> client.memory(4096L * random.nextInt(4));
            case 1 -> linux.open("/dev/null", 2);
            case 2 -> UserSocket.create(linux);
            case 3 -> linux.open(directory.toString(), 0);
            default -> client.event();
          });
    }
  }

  private void attachOne(RawClient client, int descriptor) {
    assertThat(descriptor).isNotNegative();
    descriptors.add(descriptor);
    client.out.attach(descriptor);
  }

  private long edge() {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextLong();
      case 1 -> random.nextInt(64);
      default -> EDGES[random.nextInt(EDGES.length)];
    };
  }

  /** A page at one of a few addresses, so that ranges overlap. */
  private long page() {
    return random.nextInt(8) == 0 ? edge() : 0x10_0000 + 4096L * random.nextInt(16);
  }

  /** Starts a command that is correct, or nearly. */
  private void command(RawClient client) {
    UserMessage out = client.out;
    switch (random.nextInt(12)) {
      case 0, 1 -> {
        client.beginMap(page(), 4096L * random.nextInt(4), 0, 1 + random.nextInt(3));
        out.putInt(DmaMap.ARGSZ, DmaMap.BYTES);
        if (random.nextInt(3) != 0) {
          attachOne(client, client.memory(4096L * random.nextInt(5)));
        }
      }
      case 2 -> {
        client.begin(UserCommand.DMA_UNMAP, DmaUnmap.BYTES);
        out.putInt(DmaUnmap.ARGSZ, DmaUnmap.BYTES);
        out.putInt(DmaUnmap.FLAGS, random.nextInt(4));
        out.putLong(DmaUnmap.ADDRESS, page());
        out.putLong(DmaUnmap.LENGTH, 4096L * random.nextInt(8));
      }
      case 3, 4 -> {
        client.begin(UserCommand.DEVICE_SET_IRQS, IrqSet.DATA + random.nextInt(64));
        out.putInt(IrqSet.ARGSZ, IrqSet.DATA);
        out.putInt(IrqSet.FLAGS, 1 << random.nextInt(3) | 8 << random.nextInt(3));
        out.putInt(IrqSet.INDEX, random.nextInt(4) == 0 ? (int) edge() : 2);
        out.putInt(IrqSet.START, random.nextInt(3) == 0 ? (int) edge() : random.nextInt(33));
        int count = random.nextInt(3) == 0 ? (int) edge() : random.nextInt(33);
        out.putInt(IrqSet.COUNT, count);
        if (random.nextBoolean()) {
          for (int i = 0; i < Math.min(count, 20); i++) {
            attachOne(client, client.event());
          }
        }
      }
      case 5 -> client.beginAccess(UserCommand.REGION_READ, region(), offset(), count(), 0);
      case 6 -> {
        int count = count();
        int data = random.nextInt(3) == 0 ? random.nextInt(16) : Math.clamp(count, 0, 4096);
        client.beginAccess(UserCommand.REGION_WRITE, region(), offset(), count, data);
        for (int i = 0; i < data; i++) {
          out.putByte(RegionAccess.DATA + i, random.nextInt(256));
        }
      }
      case 7 -> {
        int writes = random.nextInt(6);
        client.begin(
            UserCommand.REGION_WRITE_MULTI, WriteMulti.WRITES + writes * WriteMulti.WRITE_BYTES);
        out.putLong(WriteMulti.COUNT, random.nextInt(4) == 0 ? edge() : writes);
        for (int i = 0; i < writes; i++) {
          int at = WriteMulti.WRITES + i * WriteMulti.WRITE_BYTES;
          out.putLong(at + RegionAccess.OFFSET, offset());
          out.putInt(at + RegionAccess.REGION, region());
          out.putInt(at + RegionAccess.COUNT, count());
        }
      }
      case 8 -> {
        client.begin(UserCommand.VERSION, 4 + random.nextInt(40));
        out.putInt(0, (int) edge());
      }
      case 9 -> {
        UserCommand[] all = UserCommand.values();
        client.begin(all[random.nextInt(all.length)], random.nextInt(64));
      }
      default -> {
        UserCommand[] asking = {
          UserCommand.DEVICE_GET_INFO,
          UserCommand.DEVICE_GET_REGION_INFO,
          UserCommand.DEVICE_GET_IRQ_INFO,
          UserCommand.DEVICE_GET_REGION_IO_FDS
        };
        client.begin(asking[random.nextInt(asking.length)], 32);
        out.putInt(0, random.nextInt(4) == 0 ? (int) edge() : 32);
        out.putInt(8, random.nextInt(2) == 0 ? (int) edge() : random.nextInt(9));
      }
    }
    if (random.nextInt(6) == 0) {
      out.memory().set(ValueLayout.JAVA_INT, UserMessage.FLAGS, UserMessage.NO_REPLY);
    }
  }

  private int region() {
    return random.nextInt(6) == 0
        ? (int) edge()
        : switch (random.nextInt(3)) {
          case 0 -> 0;
          case 1 -> 2;
          default -> 7;
        };
  }

  private long offset() {
    return random.nextInt(3) == 0 ? edge() : 8L * random.nextInt(520);
  }

  private int count() {
    return random.nextInt(3) == 0 ? (int) edge() : 1 << random.nextInt(4);
  }
}
