/** What measurements of this module have in common. */
package org.hghca.tools.perf;
