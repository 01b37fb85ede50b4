package org.hghca.programs.perf.command;

import org.hghca.programs.CNumber;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes as perftest reads it: a {@link CNumber}, with K for KiB or M for MiB behind.
 */
final class MessageSize implements ITypeConverter<Integer> {
  private static final int KIBIBYTE = 1 << 10;
  private static final int MEBIBYTE = 1 << 20;

  @Override
  public Integer convert(String text) {
    int unit = text.endsWith("K") ? KIBIBYTE : text.endsWith("M") ? MEBIBYTE : 1;
    int number = new CNumber().convert(unit == 1 ? text : text.substring(0, text.length() - 1));
    try {
      return Math.multiplyExact(number, unit);
    } catch (ArithmeticException _) {
      throw new TypeConversionException("'%s' is too large".formatted(text));
    }
  }
}
