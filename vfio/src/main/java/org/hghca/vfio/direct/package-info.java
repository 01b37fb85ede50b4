/** Memory of rings without a check at each access; for the drivers of the project. */
package org.hghca.vfio.direct;
