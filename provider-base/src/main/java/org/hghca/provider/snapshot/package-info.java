/**
 * The counters of a device as other processes see them: a snapshot of them in a file, and the text
 * of OpenMetrics. It is not an API for programs; docs/observability.md has the layout and the
 * names.
 */
package org.hghca.provider.snapshot;
