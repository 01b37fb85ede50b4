package org.hghca.tools.bringup.compare;

import java.util.Map;

/**
 * A report as a file has it.
 *
 * @param file its name
 * @param outcome how it ended; where the program was killed, in which step
 * @param context program, machine and place of the board, by name
 * @param board what the steps found out about the board, by name
 * @param steps in their order, by id
 */
public record RecordedReport(
    String file,
    String outcome,
    Map<String, String> context,
    Map<String, String> board,
    Map<String, RecordedStep> steps) {}
