package org.hghca.vfio;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The name of a PCI function: {@code scheme:name?key=value&key=value}, for example {@code
 * pci:0000:03:00.0} or {@code model:left?cable=c0}. The scheme selects the backend; the backend
 * defines name and parameters, except those of {@link DriverParameter}. A question mark in the name
 * is written {@code %3F}, a percent sign may be written {@code %25}. Two locators are equal if
 * scheme, name and parameters are equal; the order of the parameters does not matter.
 */
public record Locator(String scheme, String name, SortedMap<String, String> parameters)
    implements Comparable<Locator> {

  private static final Pattern SEPARATOR =
      Pattern.compile("\\s*,\\s*(?=$|,|(?!\\p{XDigit}{1,4}:)[^\\[:,?&=]+:)");

  private static final Pattern ESCAPE = Pattern.compile("%(?:3F|3f|25)");

  public Locator {
    parameters = Collections.unmodifiableSortedMap(new TreeMap<>(parameters));
  }

  /**
   * Reads a locator.
   *
   * @throws VfioException {@code INVALID} when the text has no scheme, a malformed parameter, or
   *     one parameter twice
   */
  public static Locator parse(String text) {
    int colon = text.indexOf(':');
    if (colon <= 0) {
      throw new VfioException(
          VfioException.Reason.INVALID,
          "'%s' is not a locator: expected scheme:name, such as pci:0000:03:00.0 or model:"
              .formatted(text));
    }
    String rest = text.substring(colon + 1);
    int question = rest.indexOf('?');
    TreeMap<String, String> parameters = new TreeMap<>();
    if (question >= 0) {
      for (String parameter : rest.substring(question + 1).split("&", -1)) {
        int equals = parameter.indexOf('=');
        if (equals <= 0) {
          throw new VfioException(
              VfioException.Reason.INVALID,
              ("locator '%s': parameter '%s' is not of the form key=value (a ? in the name is"
                      + " written %%3F)")
                  .formatted(text, parameter));
        }
        String key = parameter.substring(0, equals);
        if (parameters.put(key, parameter.substring(equals + 1)) != null) {
          throw new VfioException(
              VfioException.Reason.INVALID,
              "locator '%s': parameter '%s' is given twice".formatted(text, key));
        }
      }
    }
    String name = question < 0 ? rest : rest.substring(0, question);
    return new Locator(text.substring(0, colon), decoded(name), parameters);
  }

  /**
   * The locators of a list that is separated by commas. A comma inside of a locator, as between IP
   * addresses, separates nothing: behind one that does is a scheme, which is no group of an IPv6
   * address: a scheme of one to four hexadecimal digits is recognized at the start of the list
   * only.
   *
   * @return their texts, not parsed
   */
  public static List<String> list(String text) {
    return Arrays.stream(SEPARATOR.split(text)).filter(one -> !one.isBlank()).toList();
  }

  private static String decoded(String name) {
    return ESCAPE.matcher(name).replaceAll(escape -> escape.group().equals("%25") ? "%" : "?");
  }

  /** Escapes only characters that would otherwise be parsed as a delimiter. */
  private static String encoded(String name) {
    return ESCAPE
        .matcher(name)
        .replaceAll(escape -> "%25" + escape.group().substring(1))
        .replace("?", "%3F");
  }

  /** The value of a parameter, if the locator has it. */
  public Optional<String> parameter(String key) {
    return Optional.ofNullable(parameters.get(key));
  }

  /** The same without a parameter. */
  public Locator without(String key) {
    SortedMap<String, String> others = new TreeMap<>(parameters);
    others.remove(key);
    return new Locator(scheme, name, others);
  }

  /** The same with a parameter, instead of another value of it. */
  public Locator with(String key, String value) {
    SortedMap<String, String> all = new TreeMap<>(parameters);
    all.put(key, value);
    return new Locator(scheme, name, all);
  }

  /**
   * Refuses a parameter that neither the backend nor the driver supports.
   *
   * @param own the keys that the backend supports; those of {@link DriverParameter} pass
   * @throws VfioException {@code INVALID} naming the parameter and the supported ones
   */
  public void checkParameters(Collection<String> own) {
    SortedSet<String> known = new TreeSet<>(own);
    known.addAll(DriverParameter.keys());
    for (String key : parameters.keySet()) {
      if (!known.contains(key)) {
        throw new VfioException(
            VfioException.Reason.INVALID,
            "locator '%s': unknown parameter '%s'; known are %s"
                .formatted(this, key, String.join(", ", known)));
      }
    }
  }

  @Override
  public int compareTo(Locator other) {
    return toString().compareTo(other.toString());
  }

  /** The text that {@link #parse} reads, its parameters in alphabetical order. */
  @Override
  public String toString() {
    String query =
        parameters.entrySet().stream()
            .map((Map.Entry<String, String> e) -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining("&"));
    return scheme + ":" + encoded(name) + (query.isEmpty() ? "" : "?" + query);
  }
}
