/** All tests of perf between two devices of this process, one after another, as one report. */
package org.hghca.programs.perf.suite;
