package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** The schema of reports in the documentation. */
final class ReportSchema {
  private static final Path FILE =
      Path.of("").toAbsolutePath().getParent().resolve("docs/bring-up.schema.json");

  private final JsonSchema schema;

  private ReportSchema(JsonSchema schema) {
    this.schema = schema;
  }

  static ReportSchema read() throws IOException {
    return new ReportSchema(
        JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
            .getSchema(Files.readString(FILE)));
  }

  /** What a report or a line of one breaks. */
  Set<ValidationMessage> errors(String json) {
    return schema.validate(json, InputFormat.JSON);
  }

  void assertValid(String json) {
    assertThat(errors(json)).as(json.substring(0, Math.min(json.length(), 300))).isEmpty();
  }
}
