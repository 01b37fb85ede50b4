/** The entry of the driver: the service that drives JingZhao cards beneath the verbs. */
package org.hghca.driver.provider;
