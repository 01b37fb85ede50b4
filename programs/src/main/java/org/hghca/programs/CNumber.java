package org.hghca.programs;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number as {@code strtol} reads it with base 0: 16, 0x10 and 020 are the same. */
public final class CNumber implements ITypeConverter<Integer> {

  @Override
  public Integer convert(String text) {
    try {
      // decode also reads #10
      if (!text.startsWith("#", text.startsWith("-") || text.startsWith("+") ? 1 : 0)) {
        return Integer.decode(text);
      }
    } catch (NumberFormatException _) {
      // The same refusal.
    }
    throw new TypeConversionException("'%s' is not a whole number".formatted(text));
  }
}
