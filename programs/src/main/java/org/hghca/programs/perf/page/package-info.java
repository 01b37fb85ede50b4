/**
 * Results of perf as one self-contained HTML page, with plots that need no network and no script.
 */
package org.hghca.programs.perf.page;
