/** What the two sides say to each other, and what carries it. */
package org.hghca.programs.perf.medium;
