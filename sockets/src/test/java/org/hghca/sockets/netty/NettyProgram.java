package org.hghca.sockets.netty;

import static org.junit.platform.engine.discovery.ClassNameFilter.excludeClassNamePatterns;
import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs netty's own tests of sockets, those of streams, and prints a line for each: {@code passed},
 * {@code failed} or {@code skipped}, its name, and why.
 */
final class NettyProgram implements TestExecutionListener {
  private NettyProgram() {}

  public static void main(String[] args) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectPackage("io.netty.testsuite.transport.socket"))
            .filters(
                includeClassNamePatterns(".*Test"), excludeClassNamePatterns(".*\\.Datagram.*"))
            .build();
    LauncherFactory.create().execute(request, new NettyProgram());
    System.exit(0); // whatever threads the tests have left
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    print("skipped", test, reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (test.isTest() || result.getStatus() != Status.SUCCESSFUL) {
      print(
          result.getStatus() == Status.SUCCESSFUL ? "passed" : "failed",
          test,
          result.getThrowable().map(Throwable::toString).orElse(""));
    }
  }

  private static void print(String what, TestIdentifier test, String why) {
    System.out.printf("%s %s %s%n", what, name(test), why.lines().findFirst().orElse(""));
  }

  /** The class and the method, as {@code SocketEchoTest.testSimpleEcho}. */
  private static String name(TestIdentifier test) {
    return switch (test.getSource().orElse(null)) {
      case MethodSource method -> simple(method.getClassName()) + "." + method.getMethodName();
      case ClassSource type -> simple(type.getClassName());
      case null, default -> test.getDisplayName();
    };
  }

  private static String simple(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
