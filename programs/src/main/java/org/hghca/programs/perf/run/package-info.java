/** One measurement: the queue pairs of a side, and the loops that post and poll. */
package org.hghca.programs.perf.run;
