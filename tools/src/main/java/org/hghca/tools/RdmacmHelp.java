package org.hghca.tools;

import picocli.CommandLine.Option;

/** Help and version of programs whose own options include {@code -V}. */
final class RdmacmHelp {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help message and exit.")
  private boolean help;

  @Option(
      names = "--version",
      versionHelp = true,
      description = "Print version information and exit.")
  private boolean version;
}
