package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.programs.Opened;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.vfio.Locator;
import org.hghca.vfio.user.UserServer;

/**
 * What takes part in a comparison.
 *
 * @param name of its rows
 * @param opener opens it
 */
public record Entrant(String name, Opener opener) {
  /** Opens a peer; what fails says why in its message. */
  interface Opener {
    Peer open() throws IOException;
  }

  /**
   * Three ways of hghca, two kinds of sockets, and copies of memory, in this order. The software
   * HCAs behind vfio-user are served by this process, too.
   *
   * @param largest bytes of a message
   * @param parameters of a test and a size
   */
  public static List<Entrant> all(
      int largest, BiFunction<PerfTest, Integer, Parameters> parameters) {
    long process = ProcessHandle.current().pid();
    String udp = "model:%s?net=udp:127.%d.%d.%s";
    long high = 64 + (process >> 8 & 63);
    long low = process & 255;
    return List.of(
        new Entrant(
            "hghca, in process",
            () -> hghca("model:left?cable=peers", "model:right?cable=peers", () -> {}, parameters)),
        new Entrant("hghca, vfio-user", () -> served(parameters)),
        new Entrant(
            "hghca, RoCE v2 over UDP",
            () ->
                hghca(
                    udp.formatted("near", high, low, 1),
                    udp.formatted("far", high, low, 2),
                    () -> {},
                    parameters)),
        new Entrant("TCP sockets", () -> new TcpPeer(largest)),
        new Entrant("UDP sockets", UdpPeer::new),
        new Entrant("memory copy", () -> new CopyPeer(largest)));
  }

  private static Peer hghca(
      String server,
      String client,
      Runnable beneath,
      BiFunction<PerfTest, Integer, Parameters> parameters) {
    Parameters.Route route = parameters.apply(PerfTest.IB_WRITE_BW, 1).route();
    return new HghcaPeer(BothSides.open(server, client, route), beneath, parameters);
  }

  private static Peer served(BiFunction<PerfTest, Integer, Parameters> parameters)
      throws IOException {
    Opened served = new Opened();
    try {
      Path folder = Files.createTempDirectory("hghca-peers");
      AutoCloseable _ = served.add(() -> Files.delete(folder));
      for (String name : List.of("left", "right")) {
        UserServer _ = served.add(serve(folder.resolve(name)));
      }
      return hghca(
          "vfio-user:" + folder.resolve("left"),
          "vfio-user:" + folder.resolve("right"),
          served::close,
          parameters);
    } catch (IOException | RuntimeException e) {
      served.close();
      throw e;
    }
  }

  private static UserServer serve(Path socket) {
    SortedMap<String, String> options = new TreeMap<>();
    options.put("cable", socket.getParent().toString());
    options.put("profile", "s");
    SoftwareHca hca = ModelProvider.plugIn(new Locator("model", socket.toString(), options));
    try {
      return UserServer.start(socket.toString(), hca);
    } catch (RuntimeException e) {
      hca.close();
      throw e;
    }
  }
}
