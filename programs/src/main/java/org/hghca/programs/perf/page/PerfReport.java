package org.hghca.programs.perf.page;

import java.util.List;
import java.util.Map;

/**
 * What a page shows.
 *
 * @param title of the page
 * @param facts environment and options, by name, in their order
 * @param measurements in their order
 */
public record PerfReport(String title, Map<String, String> facts, List<Measurement> measurements) {}
