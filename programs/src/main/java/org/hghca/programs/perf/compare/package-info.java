/** Two sets of results of perf beside each other, with what their repetition shows. */
package org.hghca.programs.perf.compare;
