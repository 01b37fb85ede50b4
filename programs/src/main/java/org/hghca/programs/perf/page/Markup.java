package org.hghca.programs.perf.page;

import java.io.StringWriter;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Writes elements, which are well-formed and escaped by construction. Not thread-safe. */
public final class Markup {
  private static final int REPLACEMENT = 0xfffd;

  private final StringWriter text = new StringWriter();
  private final XMLStreamWriter writer;

  private Markup() {
    try {
      writer = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A document with a type. */
  public static Markup document(String type) {
    Markup document = new Markup();
    try {
      document.writer.writeDTD("<!DOCTYPE " + type + ">\n");
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return document;
  }

  /** A document of XML. */
  public static Markup xml() {
    Markup document = new Markup();
    try {
      document.writer.writeStartDocument("UTF-8", "1.0");
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return document;
  }

  /**
   * Begins an element.
   *
   * @param attributes names and values in turn
   */
  public Markup open(String tag, String... attributes) {
    try {
      writer.writeStartElement(tag);
      write(attributes);
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  /** Ends the element that was begun last, and the line. */
  public Markup close() {
    try {
      writer.writeEndElement();
      writer.writeCharacters("\n");
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  /** An element without content: of HTML only one that never has any. */
  public Markup empty(String tag, String... attributes) {
    try {
      writer.writeEmptyElement(tag);
      write(attributes);
      writer.writeCharacters("\n");
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  /** An element with text only. */
  public Markup element(String tag, String content, String... attributes) {
    return open(tag, attributes).text(content).close();
  }

  /** Text; a character that XML does not have is replaced. */
  public Markup text(String content) {
    try {
      writer.writeCharacters(legal(content));
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return this;
  }

  private void write(String... attributes) throws XMLStreamException {
    for (int i = 0; i < attributes.length; i += 2) {
      writer.writeAttribute(attributes[i], legal(attributes[i + 1]));
    }
  }

  private static String legal(String content) {
    return content
        .codePoints()
        .map(c -> isLegal(c) ? c : REPLACEMENT)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  private static boolean isLegal(int c) {
    boolean printed = c >= ' ' && !(c >= 0xd800 && c <= 0xdfff) && c != 0xfffe && c != 0xffff;
    return printed || c == '\n' || c == '\t';
  }

  /** The document, all of whose elements are closed. */
  @Override
  public String toString() {
    try {
      writer.writeEndDocument();
      writer.flush();
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return text.toString();
  }
}
