/**
 * Memory of rings without a check at each access; for the drivers of the project, and for its
 * software HCA.
 */
package org.hghca.vfio.direct;
