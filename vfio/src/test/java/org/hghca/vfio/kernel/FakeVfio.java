package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;

/**
 * The VFIO part of a kernel, as the comments of linux/vfio.h and linux/iommufd.h describe it, for
 * the cards of a test. All else (memory, events) goes to the real kernel. Knows what is open and
 * mapped, and can make any single call fail. Thread-safe.
 */
final class FakeVfio {
  private static final int FIRST = 1_000_000;
  private static final int EBADF = -9;
  private static final int EBUSY = -16;
  private static final int EINVAL = -22;
  private static final int ENOTTY = -25;

  /** The object behind a fake descriptor. */
  private interface File {}

  /** A container; type 0 until it has its IOMMU. */
  private static final class Container implements File {
    int type;
    int groups;
    boolean noiommu;
    final TreeMap<Long, Long> maps = new TreeMap<>();
  }

  private static final class Group implements File {
    final int number;
    final boolean noiommu;
    Container container;

    Group(int number, boolean noiommu) {
      this.number = number;
      this.noiommu = noiommu;
    }
  }

  private static final class Device implements File {
    final FakeCard card;
    final boolean own;
    Iommufd bound;

    Device(FakeCard card, boolean own) {
      this.card = card;
      this.own = own;
    }
  }

  private static final class Iommufd implements File {
    final Map<Integer, TreeMap<Long, Long>> spaces = new HashMap<>();
    int last;
  }

  private final Map<Integer, File> files = new HashMap<>();
  private final Map<Long, Long> mappings = new TreeMap<>();
  private final List<Integer> realFiles = new ArrayList<>();
  private final Map<String, FakeCard> nodes = new HashMap<>();
  private final List<FakeCard> cards = new ArrayList<>();
  private int next = FIRST;
  private int failing = -1;
  private int failure;

  /** The calls, oldest first: the name, for ioctl that of the request, and its object. */
  final List<String> calls = new ArrayList<>();

  /** The information that a container returns. */
  int api;

  boolean secondType = true;
  long pageSizes = 0x201000;
  long[][] ranges = {{0, 0xfedf_ffffL}, {0xfef0_0000L, (1L << 39) - 1}};

  /** Whether the kernel has capabilities that report ranges and mappings: not before 5.4. */
  boolean tellsRanges = true;

  int mappingsLeft = 65535;
  long alignment = 4096;

  /** The result of mapping memory, when it is not 0. */
  int mapAnswer;

  /** Whether the kernel maps no registers, although it reported that it would. */
  boolean refusedMaps;

  final SystemCalls system =
      (SystemCalls)
          Proxy.newProxyInstance(
              SystemCalls.class.getClassLoader(),
              new Class<?>[] {SystemCalls.class},
              (self, method, arguments) -> call(method, arguments));

  /** Adds a card to the machine: in its group, and with a node of its own. */
  FakeVfio card(FakeCard card, String ownNode) {
    cards.add(card);
    nodes.put(ownNode, card);
    return this;
  }

  /**
   * Makes one call fail, except calls that release something.
   *
   * @param call its number, counted from the first
   */
  FakeVfio fail(int call, int errno) {
    failing = call;
    failure = -errno;
    return this;
  }

  /** The remaining descriptors and mappings. */
  synchronized List<String> leaks() {
    List<String> leaks = new ArrayList<>();
    files.values().forEach(file -> leaks.add(file.getClass().getSimpleName()));
    realFiles.forEach(file -> leaks.add("file " + file));
    mappings.forEach((at, length) -> leaks.add("mapping of " + length));
    return leaks;
  }

  /** The I/O addresses that are mapped, with the bytes at each. */
  synchronized Map<Long, Long> mapped() {
    Map<Long, Long> all = new TreeMap<>();
    for (File file : files.values()) {
      if (file instanceof Container container) {
        all.putAll(container.maps);
      } else if (file instanceof Iommufd iommufd) {
        iommufd.spaces.values().forEach(all::putAll);
      }
    }
    return all;
  }

  /** A descriptor of a card's own node, opened by another process. */
  int openDevice(FakeCard card, boolean own) {
    return add(new Device(card, own));
  }

  /** A descriptor of /dev/iommu, opened by another process. */
  int openIommufd() {
    return add(new Iommufd());
  }

  /** A descriptor of a container with its IOMMU, opened by another process. */
  int openContainer() {
    Container container = new Container();
    container.type = 3;
    container.groups = 1;
    return add(container);
  }

  private int add(File file) {
    files.put(next, file);
    return next++;
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    String name = method.getName();
    boolean takesBack =
        name.equals("close")
            || name.equals("munmap")
            || name.equals("pread")
            || name.equals("pwrite");
    Object answer;
    synchronized (this) {
      if (!takesBack && failing-- == 0) {
        calls.add((name.equals("ioctl") ? nameOf(arguments) : name) + " failed");
        return method.getReturnType() == long.class ? (Object) (long) failure : (Object) failure;
      }
      answer = fake(name, arguments);
      if (answer == null) {
        calls.add(name);
        forget(name, arguments);
      }
    }
    if (answer == null) {
      answer = real(method, arguments);
    }
    return method.getReturnType() == long.class ? ((Number) answer).longValue() : answer;
  }

  /** Before the call: a number that it releases may belong to another thread at once. */
  private void forget(String name, Object[] arguments) {
    switch (name) {
      case "close" -> realFiles.remove(arguments[0]);
      case "munmap" -> mappings.remove(arguments[0]);
      default -> {}
    }
  }

  private Object real(Method method, Object[] arguments) throws Throwable {
    Object answer;
    try {
      answer = method.invoke(Linux.system(), arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    long value = ((Number) answer).longValue();
    synchronized (this) {
      switch (method.getName()) {
        case "eventfd", "epollCreate", "memfdCreate" -> realFiles.add((int) value);
        case "mmap" -> mappings.put(value, (Long) arguments[0]);
        default -> {}
      }
    }
    return answer;
  }

  /** The answer of this kernel, or null for the real one's. */
  private Object fake(String name, Object[] arguments) {
    if (name.equals("open")) {
      calls.add("open " + arguments[0]);
      return open((String) arguments[0]);
    }
    if (name.equals("mmap") && (int) arguments[3] >= FIRST) {
      calls.add("mmap Device");
      Device device = (Device) files.get(arguments[3]);
      long address =
          refusedMaps ? EINVAL : device.card.mmap((long) arguments[0], (long) arguments[4]);
      if (address > 0) {
        mappings.put(address, (Long) arguments[0]);
      }
      return address;
    }
    if (arguments.length == 0
        || !(arguments[0] instanceof Integer descriptor)
        || descriptor < FIRST) {
      return null;
    }
    File file = files.get(descriptor);
    String of = file == null ? "nothing" : file.getClass().getSimpleName();
    calls.add((name.equals("ioctl") ? nameOf(arguments) : name) + " " + of);
    if (file == null) {
      return EBADF;
    }
    return switch (name) {
      case "close" -> close(descriptor);
      case "fcntl" -> add(file);
      case "ioctl" -> ioctl(file, request(file, arguments), arguments[2]);
      case "pread" ->
          ((Device) file).card.access((MemorySegment) arguments[1], (long) arguments[2], false);
      case "pwrite" ->
          ((Device) file).card.access((MemorySegment) arguments[1], (long) arguments[2], true);
      default -> throw new AssertionError(name);
    };
  }

  private String nameOf(Object[] ioctl) {
    return request(files.get((int) ioctl[0]), ioctl).name();
  }

  private static Ioctl request(File of, Object[] ioctl) {
    return Ioctl.of((int) ioctl[1], of instanceof Container);
  }

  private int open(String path) {
    if (path.endsWith("/dev/vfio/vfio")) {
      return add(new Container());
    }
    if (path.endsWith("/dev/iommu")) {
      return add(new Iommufd());
    }
    if (path.contains("/dev/vfio/devices/")) {
      return add(new Device(nodes.get(path.substring(path.indexOf("/dev/"))), true));
    }
    int number = Integer.parseInt(path.replaceAll(".*/(noiommu-)?", ""));
    boolean open =
        files.values().stream().anyMatch(file -> file instanceof Group g && g.number == number);
    return open ? EBUSY : add(new Group(number, path.contains("noiommu-")));
  }

  private int close(int descriptor) {
    File file = files.remove(descriptor);
    if (files.containsValue(file)) {
      return 0; // a duplicate remains
    }
    if (file instanceof Device device) {
      device.card.released();
    } else if (file instanceof Group group && group.container != null) {
      group.container.groups--;
    }
    return 0;
  }

  private int ioctl(File file, Ioctl request, Object argument) {
    return switch (file) {
      case Container container -> container(container, request, argument);
      case Group group -> group(group, request, (MemorySegment) argument);
      case Device device -> device(device, request, argument);
      case Iommufd iommufd -> iommufd(iommufd, request, (MemorySegment) argument);
      default -> throw new AssertionError(file);
    };
  }

  private int container(Container container, Ioctl request, Object argument) {
    return switch (request) {
      case VFIO_GET_API_VERSION -> api;
      case VFIO_CHECK_EXTENSION ->
          (long) argument == 1 || (long) argument == 3 && secondType ? 1 : 0;
      case VFIO_SET_IOMMU -> {
        int type = (int) (long) argument;
        if (container.groups == 0 || container.type != 0 || container.noiommu != (type == 8)) {
          yield EINVAL;
        }
        container.type = type;
        yield 0;
      }
      case VFIO_IOMMU_GET_INFO -> type1Info(container, (MemorySegment) argument);
      case VFIO_IOMMU_MAP_DMA -> {
        MemorySegment map = (MemorySegment) argument;
        yield map.get(JAVA_INT, 0) < 32 || (map.get(JAVA_INT, 4) & 3) == 0
            ? EINVAL
            : map(container.maps, map.get(JAVA_LONG, 16), map.get(JAVA_LONG, 24));
      }
      case VFIO_IOMMU_UNMAP_DMA -> {
        MemorySegment unmap = (MemorySegment) argument;
        yield container.maps.remove(unmap.get(JAVA_LONG, 8), unmap.get(JAVA_LONG, 16)) ? 0 : EINVAL;
      }
      default -> ENOTTY;
    };
  }

  private int map(NavigableMap<Long, Long> maps, long iova, long bytes) {
    if (mapAnswer != 0) {
      return mapAnswer;
    }
    Map.Entry<Long, Long> below = maps.lowerEntry(iova + bytes);
    if (below != null && below.getKey() + below.getValue() > iova) {
      return -17; // EEXIST
    }
    for (long[] range : ranges) {
      if (iova >= range[0] && iova + bytes - 1 <= range[1] && (iova | bytes) % 4096 == 0) {
        maps.put(iova, bytes);
        return 0;
      }
    }
    return EINVAL;
  }

  private int type1Info(Container container, MemorySegment info) {
    if (container.type != 1 && container.type != 3) {
      return ENOTTY;
    }
    int argsz = info.get(JAVA_INT, 0);
    if (!tellsRanges) {
      info.set(JAVA_INT, 4, 1);
      info.set(JAVA_LONG, 8, pageSizes);
      return 0;
    }
    int needed = 24 + 12 + 4 + 16 + 16 * ranges.length;
    info.set(JAVA_INT, 4, 3);
    info.set(JAVA_LONG, 8, pageSizes);
    info.set(JAVA_INT, 16, 0);
    if (argsz < needed) {
      info.set(JAVA_INT, 0, needed);
      return 0;
    }
    info.set(JAVA_INT, 16, 24);
    info.set(JAVA_INT, 24, 3 | 1 << 16);
    info.set(JAVA_INT, 28, 40);
    info.set(JAVA_INT, 32, mappingsLeft);
    info.set(JAVA_INT, 40, 1 | 1 << 16);
    info.set(JAVA_INT, 44, 0);
    info.set(JAVA_INT, 48, ranges.length);
    for (int i = 0; i < ranges.length; i++) {
      MemorySegment.copy(ranges[i], 0, info, JAVA_LONG, 56 + 16L * i, 2);
    }
    return 0;
  }

  private int group(Group group, Ioctl request, MemorySegment argument) {
    return switch (request) {
      case VFIO_GROUP_GET_STATUS -> {
        argument.set(JAVA_INT, 4, 1);
        yield 0;
      }
      case VFIO_GROUP_SET_CONTAINER -> {
        group.container = (Container) files.get(argument.get(JAVA_INT, 0));
        group.container.groups++;
        group.container.noiommu = group.noiommu;
        yield 0;
      }
      case VFIO_GROUP_GET_DEVICE_FD -> {
        String address = argument.getString(0);
        if (group.container == null || group.container.type == 0) {
          yield EINVAL;
        }
        yield cards.stream()
            .filter(card -> card.address.equals(address) && card.group == group.number)
            .findFirst()
            .map(card -> add(new Device(card, false)))
            .orElse(-19);
      }
      default -> {
        yield ENOTTY;
      }
    };
  }

  private int device(Device device, Ioctl request, Object argument) {
    MemorySegment structure = argument instanceof MemorySegment segment ? segment : null;
    return switch (request) {
      case VFIO_DEVICE_BIND_IOMMUFD -> {
        if (!device.own || device.bound != null || structure.get(JAVA_INT, 0) < 16) {
          yield EINVAL;
        }
        device.bound = (Iommufd) files.get(structure.get(JAVA_INT, 8));
        yield 0;
      }
      case VFIO_DEVICE_ATTACH_IOMMUFD_PT -> {
        yield device.bound != null && device.bound.spaces.containsKey(structure.get(JAVA_INT, 8))
            ? 0
            : EINVAL;
      }
      case VFIO_DEVICE_DETACH_IOMMUFD_PT -> {
        yield 0;
      }
      default -> {
        yield device.own && device.bound == null ? EINVAL : device.card.ioctl(request, structure);
      }
    };
  }

  private int iommufd(Iommufd iommufd, Ioctl request, MemorySegment argument) {
    return switch (request) {
      case IOMMU_DESTROY -> {
        yield iommufd.spaces.remove(argument.get(JAVA_INT, 4)) == null ? -2 : 0;
      }
      case IOMMU_IOAS_ALLOC -> {
        iommufd.last++;
        iommufd.spaces.put(iommufd.last, new TreeMap<>());
        argument.set(JAVA_INT, 8, iommufd.last);
        yield 0;
      }
      case IOMMU_IOAS_IOVA_RANGES -> {
        int room = argument.get(JAVA_INT, 8);
        argument.set(JAVA_INT, 8, ranges.length);
        argument.set(JAVA_LONG, 24, alignment);
        if (room < ranges.length) {
          yield -90; // EMSGSIZE
        }
        MemorySegment list = memory(argument.get(JAVA_LONG, 16), 16L * ranges.length);
        for (int i = 0; i < ranges.length; i++) {
          MemorySegment.copy(ranges[i], 0, list, JAVA_LONG, 16L * i, 2);
        }
        yield 0;
      }
      case IOMMU_IOAS_MAP -> {
        TreeMap<Long, Long> maps = iommufd.spaces.get(argument.get(JAVA_INT, 8));
        boolean fixed = (argument.get(JAVA_INT, 4) & 1) != 0;
        yield !fixed || maps == null
            ? EINVAL
            : map(maps, argument.get(JAVA_LONG, 32), argument.get(JAVA_LONG, 24));
      }
      case IOMMU_IOAS_UNMAP -> {
        TreeMap<Long, Long> maps = iommufd.spaces.get(argument.get(JAVA_INT, 4));
        yield maps.remove(argument.get(JAVA_LONG, 8), argument.get(JAVA_LONG, 16)) ? 0 : -2;
      }
      default -> {
        yield ENOTTY;
      }
    };
  }

  /** Some addresses, with or without memory. */
  @SuppressWarnings("restricted")
  static MemorySegment memory(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
