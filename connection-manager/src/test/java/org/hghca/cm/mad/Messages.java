package org.hghca.cm.mad;

import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;

/** Messages for the tests, all fields of which have a random value. */
final class Messages {
  static final List<Class<? extends Message>> KINDS =
      List.of(
          Req.class,
          Mra.class,
          Rej.class,
          Rep.class,
          Rtu.class,
          Dreq.class,
          Drep.class,
          SidrReq.class,
          SidrRep.class,
          Lap.class,
          Apr.class);

  /** The bytes of private data of each kind. */
  private static final Map<Class<?>, Integer> PRIVATE_DATA =
      Map.ofEntries(
          Map.entry(Req.class, 92),
          Map.entry(Mra.class, 222),
          Map.entry(Rej.class, 148),
          Map.entry(Rep.class, 196),
          Map.entry(Rtu.class, 224),
          Map.entry(Dreq.class, 220),
          Map.entry(Drep.class, 224),
          Map.entry(SidrReq.class, 216),
          Map.entry(SidrRep.class, 136),
          Map.entry(Lap.class, 168),
          Map.entry(Apr.class, 148));

  /** The bits of each field that is an int, where they are not 32. */
  private static final Map<String, Integer> BITS =
      Map.ofEntries(
          Map.entry("qpNumber", 24),
          Map.entry("remoteQpNumber", 24),
          Map.entry("startingPsn", 24),
          Map.entry("responderResources", 8),
          Map.entry("initiatorDepth", 8),
          Map.entry("remoteResponseTimeout", 5),
          Map.entry("localResponseTimeout", 5),
          Map.entry("serviceTimeout", 5),
          Map.entry("targetAckDelay", 5),
          Map.entry("ackTimeout", 5),
          Map.entry("transport", 2),
          Map.entry("message", 2),
          Map.entry("failoverAccepted", 2),
          Map.entry("retryCount", 3),
          Map.entry("rnrRetry", 3),
          Map.entry("partitionKey", 16),
          Map.entry("reason", 16),
          Map.entry("localLid", 16),
          Map.entry("remoteLid", 16),
          Map.entry("pathMtu", 4),
          Map.entry("maxCmRetries", 4),
          Map.entry("serviceLevel", 4),
          Map.entry("flowLabel", 20),
          Map.entry("packetRate", 6),
          Map.entry("trafficClass", 8),
          Map.entry("hopLimit", 8),
          Map.entry("status", 8));

  private Messages() {}

  static Mad random(RandomGenerator random) {
    return new Mad(random.nextLong(), random(random, KINDS.get(random.nextInt(KINDS.size()))));
  }

  static <T> T random(RandomGenerator random, Class<T> type) {
    RecordComponent[] components = type.getRecordComponents();
    Object[] values = new Object[components.length];
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < values.length; i++) {
      types[i] = components[i].getType();
      values[i] = random(random, type, components[i].getName(), types[i]);
    }
    try {
      return type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  private static Object random(
      RandomGenerator random, Class<?> record, String name, Class<?> type) {
    if (type == int.class) {
      return random.nextInt() >>> 32 - BITS.getOrDefault(name, 32);
    } else if (type == long.class) {
      return random.nextLong();
    } else if (type == boolean.class) {
      return random.nextBoolean();
    } else if (type == Gid.class) {
      return new Gid(random.nextLong(), random.nextLong());
    } else if (type == PathFields.class) {
      return random(random, PathFields.class);
    } else if (type == Optional.class) {
      return random.nextBoolean()
          ? Optional.empty()
          : Optional.of(random(random, PathFields.class));
    }
    int length = name.equals("privateData") ? PRIVATE_DATA.get(record) : random.nextInt(73);
    return data(random, length);
  }

  static PrivateData data(RandomGenerator random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return PrivateData.of(bytes);
  }
}
