package org.hghca.tools.sockets;

import java.net.SocketException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.sockets.policy.SocketSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca sockets args}: the argument file with which a program's sockets go over RDMA. */
@Command(
    name = "args",
    description = {
      "Print the argument file with which a Java program's sockets go over RDMA:",
      "  hghca sockets args -d <locator> --networks 10.0.0.0/8 > rdma.args",
      "  java @rdma.args -jar server.jar",
      "It works with -jar, -cp and --module, and in JDK_JAVA_OPTIONS."
    })
public final class ArgsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-d", "--device"},
      completionCandidates = CompletedValues.Devices.class,
      required = true,
      paramLabel = "<locator>",
      description = "A device of the process. May be given more than once.")
  private List<String> devices = new ArrayList<>();

  @Option(
      names = "--networks",
      required = true,
      paramLabel = "<networks>",
      description = "What goes over RDMA, such as 10.0.0.0/8,fd00::/16; the rest is TCP.")
  private String networks;

  @Option(
      names = "--fallback",
      paramLabel = "<kind>",
      description = "tcp: connects that RDMA does not answer, and listeners, use TCP, too.")
  private String fallback;

  @Option(
      names = "--net",
      description = "java.net.Socket and ServerSocket, too, once the program has used a channel.")
  private boolean net;

  @Option(
      names = "--report",
      description = "The program prints what went over RDMA and what did not when it ends.")
  private boolean report;

  @Option(
      names = "--image",
      description = "For an image of jlink that has org.hghca.sockets: without a module path.")
  private boolean image;

  @Override
  public Integer call() {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put(SocketSettings.DEVICES, String.join(";", devices));
    properties.put(SocketSettings.NETWORKS, networks);
    if (fallback != null) {
      properties.put(SocketSettings.FALLBACK, fallback);
    }
    try {
      SocketSettings.read(properties::get);
    } catch (SocketException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
    if (net) {
      properties.put(ArgumentFile.NET, "true");
    }
    if (report) {
      properties.put(ArgumentFile.REPORT, "true");
    }
    String path = image ? "" : SocketModules.path(SocketModules.ofThisProgram());
    ArgumentFile.lines(path, properties).forEach(spec.commandLine().getOut()::println);
    return ExitCode.OK.code();
  }
}
