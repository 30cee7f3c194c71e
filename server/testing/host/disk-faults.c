/*
 * Makes chosen writes, truncations and syncs of chosen files fail, as a full or failing disk does.
 * LD_PRELOAD loads it, and DISK_FAULTS names a file with one `struct faults`, which the test writes (disk-faults.ts).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

struct faults {
  int32_t operation; /* 0: none, 1: write, 2: truncate, 3: sync */
  int32_t countdown; /* the call that fails first; 1 is the next one */
  int32_t repeat;    /* how many calls fail from there on */
  int32_t number;    /* errno */
  char suffix[16];   /* end of the path of the file */
};

static volatile struct faults *faults;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("DISK_FAULTS");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *at = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) faults = at;
}

static int fails(int operation, int file) {
  if (!faults || faults->operation != operation) return 0;
  char link[64], path[4096];
  char *end = link + sizeof link;
  *--end = 0;
  int number = file;
  do *--end = '0' + number % 10; while (number /= 10);
  end -= 14;
  memcpy(end, "/proc/self/fd/", 14);
  ssize_t length = readlink(end, path, sizeof path - 1);
  size_t suffix = strlen((const char *)faults->suffix);
  if (length < (ssize_t)suffix || memcmp(path + length - suffix, (const char *)faults->suffix, suffix) != 0) return 0;
  if (--faults->countdown > 0) return 0;
  if (faults->repeat-- <= 0) { faults->operation = 0; return 0; }
  errno = faults->number;
  return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t count) { REAL(write); return fails(1, file) ? -1 : real(file, bytes, count); }
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) { REAL(pwrite); return fails(1, file) ? -1 : real(file, bytes, count, at); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) { REAL(pwrite64); return fails(1, file) ? -1 : real(file, bytes, count, at); }
int ftruncate(int file, off_t length) { REAL(ftruncate); return fails(2, file) ? -1 : real(file, length); }
int ftruncate64(int file, off64_t length) { REAL(ftruncate64); return fails(2, file) ? -1 : real(file, length); }
int fsync(int file) { REAL(fsync); return fails(3, file) ? -1 : real(file); }
int fdatasync(int file) { REAL(fdatasync); return fails(3, file) ? -1 : real(file); }
