/* The search: exact for few orders, insertion and simulated annealing for many. */
#ifndef SEARCH_H
#define SEARCH_H

#include <signal.h>
#include <stdint.h>

#include "problem.h"
#include "tour.h"

typedef struct {
  double duration;
  uint64_t seed;
  /* Moves after which annealing ends; 0 means that only time ends it. */
  double iterations;
  Routing routing;
} Settings;

typedef struct {
  double seconds;
  double value;
} Point;

/* The best batching found so far. Invariant: distance is the sum of the tours of `batch_of`, and every batch
   keeps capacity and order limit. */
typedef struct {
  int *batch_of;
  int batch_count;
  double distance;
  /* No batching is shorter than this. */
  double bound;
  int proved;
  double moves;
  double improved_at;
  Point *points;
  int point_count;
} Result;

/* Set by the signal handler; the search looks at it often and ends with what it has. */
extern volatile sig_atomic_t stop_requested;

/* Seconds since the first call. */
double elapsed_seconds(void);

/* Batches all orders. Every order must fit into a batch of its own. Prints improvements on standard error. */
void search(const Problem *problem, const Settings *settings, Result *result);

/* The fewest batches that capacity and order limit allow, not counting that orders cannot be split. */
int batches_minimum(const Problem *problem);

/* Capacity with the allowance for sums of decimal fractions being a little off in binary. */
double capacity_of(const Problem *problem);

#endif
