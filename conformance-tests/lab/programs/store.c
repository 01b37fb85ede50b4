// In the guest: stores to BAR2 of the device of servers/store.py through the memory that vfio-pci
// maps, and looks at how they arrived. store ADDRESS, for a function in an IOMMU group.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/vfio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WRITES = 0x100, WIDTHS = 0x108, OFFSET = 0x110, WIDTH = 0x118, CLEAR = 0x120 };

static volatile uint8_t *bar;

static void die(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t load(int offset) { return *(volatile uint64_t *)(bar + offset); }

static void store(int offset, uint64_t value) { *(volatile uint64_t *)(bar + offset) = value; }

static void expect(const char *what, uint64_t seen, uint64_t wanted) {
  printf("%s: 0x%lx\n", what, seen);
  if (seen != wanted) {
    printf("  expected 0x%lx\n", wanted);
    exit(1);
  }
}

// Opens the function by its group, enables its memory and maps BAR2.
static void map_bar(const char *address) {
  char path[PATH_MAX], link[PATH_MAX];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/iommu_group", address);
  ssize_t length = readlink(path, link, sizeof link - 1);
  if (length < 0) die(path);
  link[length] = 0;
  snprintf(path, sizeof path, "/dev/vfio/%s", strrchr(link, '/') + 1);

  int container = open("/dev/vfio/vfio", O_RDWR);
  int group = open(path, O_RDWR);
  if (container < 0 || group < 0) die(path);
  if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container)) die("VFIO_GROUP_SET_CONTAINER");
  if (ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU)) die("VFIO_SET_IOMMU");
  int device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, address);
  if (device < 0) die("VFIO_GROUP_GET_DEVICE_FD");

  struct vfio_region_info config = {.argsz = sizeof config, .index = VFIO_PCI_CONFIG_REGION_INDEX};
  struct vfio_region_info region = {.argsz = sizeof region, .index = VFIO_PCI_BAR2_REGION_INDEX};
  if (ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &config)) die("region info of the configuration");
  if (ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &region)) die("region info of BAR2");
  uint16_t memory_enabled = 0x2;
  if (pwrite(device, &memory_enabled, 2, config.offset + 4) != 2) die("command register");
  bar = mmap(0, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, device, region.offset);
  if (bar == MAP_FAILED) die("mmap of BAR2");
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  map_bar(arguments[1]);

  store(CLEAR, 0);
  store(0x40, 0x1122334455667788);
  expect("writes after one store of 8 bytes", load(WRITES), 1);
  expect("its width", load(WIDTH), 8);
  expect("its offset", load(OFFSET), 0x40);
  expect("its value", load(0x40), 0x1122334455667788);

  *(volatile uint32_t *)(bar + 0x4c) = 0xaabbccdd;
  expect("writes after one store of 4 bytes more", load(WRITES), 2);
  expect("its width", load(WIDTH), 4);
  expect("its offset", load(OFFSET), 0x4c);

  store(CLEAR, 0);
  for (int i = 0; i < 1000; i++) store(i % 32 * 8, i);
  expect("writes after 1000 stores of 8 bytes", load(WRITES), 1000);
  expect("their widths", load(WIDTHS), 1 << 8);
  expect("the last value", load(999 % 32 * 8), 999);
  return 0;
}
