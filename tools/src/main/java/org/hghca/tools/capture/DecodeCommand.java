package org.hghca.tools.capture;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Json;
import org.hghca.wire.DropCounters;
import org.hghca.wire.PacketPool;
import org.hghca.wire.capture.CaptureException;
import org.hghca.wire.capture.CaptureReader;
import org.hghca.wire.capture.CapturedFrame;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca decode}: the RoCE packets of a capture. */
@Command(
    name = "decode",
    description = {
      "Print the RoCE v2 packets of a capture, one in a line: pcapng, such as capture= of a model:"
          + " locator writes it, or pcap.",
      "Ethernet with any number of VLAN tags, Linux cooked captures (tcpdump -i any), raw IP, null"
          + " and loop are read. What is left out is counted on stderr. Of a file that is cut off"
          + " or damaged the packets before that are printed, and the exit code is 1."
    })
public final class DecodeCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "<file>", description = "The capture; /dev/stdin reads from a pipe.")
  private Path file;

  @Option(names = "--json", description = "Print one JSON object in a line for each packet.")
  private boolean json;

  @Option(
      names = "--macs",
      description = "Print the Ethernet addresses and the VLAN, too; JSON always has them.")
  private boolean macs;

  private final DropCounters others = new DropCounters();

  /** Frames by link types that are not known. */
  private final Map<Integer, Long> otherLinks = new TreeMap<>();

  private String skippedBlocks = "";

  @Override
  public Integer call() throws IOException {
    ExitCode exit = ExitCode.OK;
    try (CaptureReader reader = new CaptureReader(Files.newInputStream(file))) {
      printAll(reader);
    } catch (CaptureException e) {
      exit = failed(e.getMessage());
    } catch (IOException e) {
      exit = failed(FileFailure.why(e));
    }
    countOthers();
    return exit.code();
  }

  private void printAll(CaptureReader reader) throws IOException {
    DecodedFrame decoded = new DecodedFrame(new PacketPool().take());
    try {
      for (Optional<CapturedFrame> frame = reader.next();
          frame.isPresent();
          frame = reader.next()) {
        print(decoded, frame.get());
      }
    } finally {
      skippedBlocks = reader.skipped().toString();
    }
  }

  private void print(DecodedFrame decoded, CapturedFrame frame) {
    Optional<MemorySegment> ethernet = frame.ethernet();
    if (ethernet.isEmpty()) {
      otherLinks.merge(frame.linkType(), 1L, Long::sum);
      return;
    }
    decoded.decode(frame, ethernet.get());
    if (decoded.isOther()) {
      others.count(decoded.cause());
      return;
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println(json ? Json.record(PacketJson.of(decoded)) : PacketLine.of(decoded, macs));
  }

  private ExitCode failed(String why) {
    spec.commandLine().getOut().flush();
    spec.commandLine().getErr().println("hghca: %s: %s".formatted(file, why));
    return ExitCode.FAILED;
  }

  private void countOthers() {
    PrintWriter err = spec.commandLine().getErr();
    if (others.total() > 0) {
      err.println(
          "hghca: %d frames are not RoCE v2: %s"
              .formatted(
                  others.total(),
                  others.byCause().entrySet().stream()
                      .map(entry -> entry.getValue() + " " + entry.getKey())
                      .collect(Collectors.joining(", "))));
    }
    otherLinks.forEach(
        (linkType, frames) ->
            err.println(
                "hghca: %d frames of link type %d are not read".formatted(frames, linkType)));
    if (!skippedBlocks.isEmpty()) {
      err.println("hghca: blocks that are not read: " + skippedBlocks);
    }
  }
}
