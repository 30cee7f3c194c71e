/*
 * Assignment: give each worker one job, so that the sum of the costs is least. The input is the number of workers, then
 * a line of costs for each of them. The Hungarian algorithm adds one worker after the other and takes n^3 steps.
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKERS_MAX 2000

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "There is not enough memory for this input.\n");
    exit(1);
  }
  return memory;
}

/* Extends the assignment by one worker along the cheapest alternating path. Rows and columns count from 1; 0 means none. */
static void add_worker(int worker, int n, const double *cost, double *row, double *column, int *assigned, int *way) {
  double *least = allocate((size_t)n + 1, sizeof *least);
  char *used = allocate((size_t)n + 1, 1);
  for (int job = 0; job <= n; job++) least[job] = DBL_MAX;
  int last = 0;
  assigned[0] = worker;
  do {
    int current = assigned[last], next = 0;
    double change = DBL_MAX;
    used[last] = 1;
    for (int job = 1; job <= n; job++) {
      if (used[job]) continue;
      double reduced = cost[(size_t)(current - 1) * (size_t)n + (size_t)(job - 1)] - row[current] - column[job];
      if (reduced < least[job]) {
        least[job] = reduced;
        way[job] = last;
      }
      if (least[job] < change) {
        change = least[job];
        next = job;
      }
    }
    for (int job = 0; job <= n; job++) {
      if (used[job]) {
        row[assigned[job]] += change;
        column[job] -= change;
      } else {
        least[job] -= change;
      }
    }
    last = next;
  } while (assigned[last] != 0);
  while (last != 0) {
    int before = way[last];
    assigned[last] = assigned[before];
    last = before;
  }
  free(least);
  free(used);
}

int main(int argc, char **argv) {
  int maximize = 0, n = 0;
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], "-maximize") == 0) maximize = strcmp(argv[i + 1], "true") == 0;
  if (scanf("%d", &n) != 1 || n < 1 || n > WORKERS_MAX) {
    fprintf(stderr, "The input must begin with the number of workers, from 1 to %d.\n", WORKERS_MAX);
    return 1;
  }
  size_t size = (size_t)n;
  double *cost = allocate(size * size, sizeof *cost);
  for (size_t i = 0; i < size * size; i++) {
    if (scanf("%lf", &cost[i]) != 1) {
      fprintf(stderr, "The input has %zu numbers after the first; it must have %zu.\n", i, size * size);
      return 1;
    }
    if (maximize) cost[i] = -cost[i];
  }
  fprintf(stderr, "Assigning %d workers.\n", n);

  double started = now();
  double *row = allocate(size + 1, sizeof *row), *column = allocate(size + 1, sizeof *column);
  double *values = allocate(size, sizeof *values), *times = allocate(size, sizeof *times);
  int *assigned = allocate(size + 1, sizeof *assigned), *way = allocate(size + 1, sizeof *way);
  for (int worker = 1; worker <= n; worker++) {
    add_worker(worker, n, cost, row, column, assigned, way);
    /* The price of column 0 is the cost of the best assignment of the workers so far. */
    values[worker - 1] = maximize ? column[0] : -column[0];
    times[worker - 1] = now() - started;
    fprintf(stderr, "{\"series\": {\"objective\": %.10g}}\n", values[worker - 1]);
  }

  printf("{\"solution\": {\"assignment\": [");
  for (int job = 1; job <= n; job++)
    printf("%s{\"job\": %d, \"worker\": %d}", job > 1 ? ", " : "", job, assigned[job]);
  printf("]}, \"statistics\": {\"schema\": \"v1\", \"run\": {\"duration\": %.6f}, ", now() - started);
  printf("\"result\": {\"value\": %.10g, \"custom\": {\"workers\": %d, ", values[n - 1], n);
  printf("\"value_per_worker\": %.10g, \"is_optimal\": true}}, ", values[n - 1] / n);
  printf("\"series_data\": {\"value\": {\"name\": \"value\", \"data_points\": [");
  for (int i = 0; i < n; i++) printf("%s{\"x\": %.6f, \"y\": %.10g}", i > 0 ? ", " : "", times[i], values[i]);
  printf("]}}}}\n");
  return 0;
}
