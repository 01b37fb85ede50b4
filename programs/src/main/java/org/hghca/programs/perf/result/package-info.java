/** What was measured, and how perftest prints it. */
package org.hghca.programs.perf.result;
