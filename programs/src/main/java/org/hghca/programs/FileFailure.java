package org.hghca.programs;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Why a file cannot be read or written, in words: some exceptions of Java only name the file. */
public final class FileFailure {
  private FileFailure() {}

  /** The reason, without the name of the file. */
  public static String why(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "no such file";
      case AccessDeniedException _ -> "permission denied";
      case FileSystemException f when f.getReason() != null -> f.getReason();
      // "FILE (REASON)"
      case FileNotFoundException f -> f.getMessage().replaceFirst("(?s).*\\((.*)\\)$", "$1");
      case CharacterCodingException _ -> "not text in UTF-8";
      default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    };
  }
}
