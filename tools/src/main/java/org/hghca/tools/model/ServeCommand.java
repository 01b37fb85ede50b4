package org.hghca.tools.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.hghca.linux.Linux;
import org.hghca.linux.ServiceManager;
import org.hghca.model.CaptureSocket;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.model.VirtioProvider;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.programs.OutlivesReader;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code hghca model serve}: software cards for other processes, such as a virtual machine. */
@Command(
    name = "serve",
    description = {
      "Serve a software HCA at a UNIX socket, to one vfio-user client after another: a virtual"
          + " machine, or a driver that opens vfio-user:<path>. With a peer, two that are joined by"
          + " a cable. With --kind=virtio it is a virtio network card, which the stock drivers of"
          + " virtual machines have.",
      "'hghca capture' sees the packets of each: by a second socket, <path>.capture.",
      "Each prints a line when it is ready. SIGTERM or SIGINT ends it with exit code 0,"
          + " and removes the sockets."
    })
final class ServeCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;

  @Option(names = "--socket", paramLabel = "<path>", required = true, description = "The socket.")
  private Path socket;

  @Option(
      names = "--peer",
      paramLabel = "<path>",
      description =
          "The socket of a second one, at the other end of a cable, or of the hub of -o hub= and"
              + " --peer-option hub=.")
  private Path peer;

  @Option(
      names = "--socket-group",
      paramLabel = "<group>",
      converter = Group.class,
      description =
          "The group, by name or number, whose members may connect to the sockets, as QEMU does"
              + " that runs as another user (default: only this user may).")
  private Optional<GroupPrincipal> group = Optional.empty();

  @Option(
      names = "--kind",
      paramLabel = "<kind>",
      description = "What is served: hca or virtio (default: hca).")
  private Kind kind = Kind.hca;

  @Option(
      names = "--profile",
      completionCandidates = CompletedValues.Profiles.class,
      paramLabel = "<profile>",
      description = "Profile of the card that HCAs play: s, r1 or r2 (default: s).")
  private String profile;

  @Option(
      names = {"-o", "--option"},
      paramLabel = "<key=value>",
      description =
          "A parameter of a model: or virtio: locator, such as mac=, ip=, seed=, capture=, or drop="
              + " where there is a cable. May be given more than once.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--peer-option",
      paramLabel = "<key=value>",
      description = "The same, of the peer.")
  private Map<String, String> peerOptions = new LinkedHashMap<>();

  /** A group of this machine. */
  static final class Group implements ITypeConverter<GroupPrincipal> {
    @Override
    public GroupPrincipal convert(String name) throws IOException {
      try {
        if (!name.startsWith("-")) { // a number below 0 is no group
          return FileSystems.getDefault()
              .getUserPrincipalLookupService()
              .lookupPrincipalByGroupName(name);
        }
      } catch (UserPrincipalNotFoundException e) {
        // The same answer.
      }
      throw new TypeConversionException("there is no group '%s'".formatted(name));
    }
  }

  /** Kinds of software cards, by the names that users give. */
  private enum Kind {
    hca,
    virtio
  }

  /** What runs, the last one first: servers, and before each the socket for its captures. */
  private final UndoStack running = new UndoStack();

  /** Those that are served. */
  private final List<SoftwareHca> cards = new ArrayList<>();

  private final Optional<ServiceManager> manager =
      ServiceManager.of(System.getenv(), ProcessHandle.current().pid());

  private boolean ending;

  @Override
  public Integer call() {
    if (peer == null && !peerOptions.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "--peer-option needs --peer");
    }
    if (socket.equals(peer)) {
      throw new ParameterException(
          spec.commandLine(), "--socket and --peer are the same path: each card needs its own");
    }
    if (kind != Kind.hca && profile != null) {
      throw new ParameterException(spec.commandLine(), "--profile needs --kind=hca");
    }
    Thread hook =
        new Thread(
            () -> {
              tell("STOPPING=1");
              close();
              // This is the orderly end, not the termination by a signal that the JVM would report.
              Runtime.getRuntime().halt(0);
            });
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      serve(socket, options);
      if (peer != null) {
        serve(peer, peerOptions);
      }
      keepServing();
      return 0;
    } catch (InterruptedException e) {
      return 0;
    } catch (VfioException e) {
      if (e.reason() == Reason.INVALID) {
        throw new ParameterException(spec.commandLine(), e.getMessage(), e);
      }
      spec.commandLine().getErr().println("hghca: " + e.getMessage());
      return ExitCode.FAILED.code();
    } finally {
      close();
      removeHook(hook);
    }
  }

  /**
   * Until the process is ended; a service manager hears that the cards work, as often as it asks.
   */
  private void keepServing() throws InterruptedException {
    tell("READY=1\nSTATUS=serving " + (peer == null ? socket : socket + " and " + peer));
    CountDownLatch never = new CountDownLatch(1);
    Optional<Duration> watchdog = manager.flatMap(ServiceManager::watchdog);
    if (watchdog.isEmpty()) {
      never.await();
    }
    while (!never.await(watchdog.get().toNanos() / 2, TimeUnit.NANOSECONDS)) {
      cards.forEach(SoftwareHca::awaitStep);
      tell("WATCHDOG=1");
    }
  }

  private void tell(String state) {
    if (manager.isEmpty()) {
      return;
    }
    try {
      manager.get().tell(Linux.system(), state);
    } catch (IOException e) {
      spec.commandLine().getErr().println("hghca: warning: " + e.getMessage());
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: it ends the process.
    }
  }

  private void serve(Path path, Map<String, String> given) {
    SortedMap<String, String> parameters = new TreeMap<>(given);
    if (peer != null && !parameters.containsKey("hub")) {
      parameters.putIfAbsent("cable", socket.toString());
    }
    SoftwareHca card = plugIn(path, parameters);
    try {
      start(path, card);
    } catch (RuntimeException | Error e) {
      card.close();
      throw e;
    }
    cards.add(card);
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        "serving %s, on %s"
            .formatted(
                kind == Kind.hca
                    ? "a software HCA, profile %s, mac %s, ip %s"
                        .formatted(
                            parameters.get("profile"),
                            mac(card.address().mac()),
                            ips(card.address()))
                    : "a virtio network card, mac " + mac(card.address().mac()),
                path));
    out.flush();
  }

  private SoftwareHca plugIn(Path path, SortedMap<String, String> parameters) {
    if (kind == Kind.virtio) {
      parameters.putIfAbsent("roce", "none"); // to recent stock drivers its feature is another one
      return VirtioProvider.plugIn(new Locator("virtio", path.toString(), parameters));
    }
    parameters.put("profile", profile == null ? "s" : profile);
    return ModelProvider.plugIn(new Locator("model", path.toString(), parameters));
  }

  private synchronized void start(Path path, SoftwareHca hca) {
    if (ending) {
      throw new VfioException(Reason.CLOSED, "ended before it began");
    }
    UserServer server = UserServer.start(path.toString(), group, hca);
    running.add(server::close);
    try {
      CaptureSocket captures =
          CaptureSocket.open(CaptureSocket.beside(path.toString()), group, hca);
      running.add(captures::close);
    } catch (VfioException e) {
      // The HCA is served nevertheless.
      spec.commandLine().getErr().println("hghca: warning: " + e.getMessage());
    }
  }

  private synchronized void close() {
    ending = true;
    running.close();
  }

  private static String mac(long mac) {
    return "%012x".formatted(mac).replaceAll("..(?!$)", "$0:");
  }

  private static String ips(LinkAddress address) {
    return address.addresses().stream()
        .map(InetAddress::getHostAddress)
        .collect(Collectors.joining(","));
  }
}
