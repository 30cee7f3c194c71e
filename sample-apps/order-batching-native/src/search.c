#define _POSIX_C_SOURCE 200809L
#include "search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"

/* Up to here every subset of orders is looked at: 3^14 splits take well below a second. */
enum { EXACT_MAXIMUM = 14 };

volatile sig_atomic_t stop_requested = 0;

double elapsed_seconds(void) {
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (first.tv_sec == 0 && first.tv_nsec == 0) first = now;
  return (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
}

double capacity_of(const Problem *problem) {
  return problem->capacity + 1e-9 * (problem->capacity > 1 ? problem->capacity : 1);
}

int batches_minimum(const Problem *problem) {
  double quantity = 0;
  for (int i = 0; i < problem->order_count; i++) quantity += problem->orders[i].quantity;
  int by_count = (problem->order_count + problem->orders_maximum - 1) / problem->orders_maximum;
  int by_quantity = problem->capacity > 0 ? (int)ceil(quantity / capacity_of(problem)) : 0;
  return by_count > by_quantity ? by_count : by_quantity;
}

static int compare_reach(const void *left, const void *right) {
  const Order *a = *(Order *const *)left, *b = *(Order *const *)right;
  if (a->reach != b->reach) return a->reach < b->reach ? 1 : -1;
  return (a > b) - (a < b);
}

static Order **orders_by_reach(const Problem *problem) {
  Order **sorted = must_allocate((size_t)problem->order_count * sizeof *sorted);
  for (int i = 0; i < problem->order_count; i++) sorted[i] = &problem->orders[i];
  qsort(sorted, (size_t)problem->order_count, sizeof *sorted, compare_reach);
  return sorted;
}

/*
 * A tour is at least twice as long as the way to its farthest pick. With the orders sorted by falling reach, k batches
 * hold at most k capacities and k order limits of them, so one more batch reaches at least as far as the first order
 * that does not go into k.
 */
static double lower_bound(const Problem *problem) {
  Order **sorted = orders_by_reach(problem);
  double bound = 0, quantity = 0;
  int batches = 0;
  for (int i = 0; i < problem->order_count; i++) {
    quantity += sorted[i]->quantity;
    if (quantity > batches * capacity_of(problem) || i >= batches * problem->orders_maximum) {
      bound += 2 * sorted[i]->reach;
      batches++;
    }
  }
  free(sorted);
  return bound;
}

/* Improvements can come thousands a second: those within this time of the last one told are kept but not printed. */
static const double say_interval = 0.1;

static void note(Result *result, double distance, int always) {
  static double said_at = -1;
  result->distance = distance;
  result->improved_at = elapsed_seconds();
  if (!always && result->improved_at < said_at + say_interval) return;
  said_at = result->improved_at;
  if ((result->point_count & (result->point_count - 1)) == 0) {
    size_t capacity = result->point_count ? (size_t)result->point_count * 2 : 1;
    result->points = must_reallocate(result->points, capacity * sizeof *result->points);
  }
  result->points[result->point_count++] = (Point){result->improved_at, distance};
  fprintf(stderr, "%8.2f s  value %.2f  bound %.2f\n", result->improved_at, distance, result->bound);
}

/* The batches being worked on, each a list of order indices. */
typedef struct {
  const Problem *problem;
  Routing routing;
  Pick *scratch;
  int *candidate;
  int **members;
  int *counts;
  double *loads;
  double *distances;
  int *batch_of;
  int batch_count;
  double total;
} State;

static double distance_of(State *state, const int *orders, int count) {
  return tour_length(state->problem, state->routing, orders, count, state->scratch);
}

/* The tour of a batch with one order (or -1 for none) taken out and one (or -1) put in. */
static double distance_with(State *state, int batch, int out, int in) {
  int count = 0;
  for (int i = 0; i < state->counts[batch]; i++) {
    if (state->members[batch][i] != out) state->candidate[count++] = state->members[batch][i];
  }
  if (in >= 0) state->candidate[count++] = in;
  return distance_of(state, state->candidate, count);
}

static int has_room(const State *state, int batch, int out, int in) {
  const Order *orders = state->problem->orders;
  double load = state->loads[batch] + orders[in].quantity - (out >= 0 ? orders[out].quantity : 0);
  int count = state->counts[batch] + (out < 0);
  return load <= capacity_of(state->problem) && count <= state->problem->orders_maximum;
}

static void take_out(State *state, int order) {
  int batch = state->batch_of[order];
  int at = 0;
  while (state->members[batch][at] != order) at++;
  state->members[batch][at] = state->members[batch][--state->counts[batch]];
  state->loads[batch] -= state->problem->orders[order].quantity;
}

static void put_in(State *state, int order, int batch) {
  if ((state->counts[batch] & (state->counts[batch] - 1)) == 0) {
    size_t capacity = state->counts[batch] ? (size_t)state->counts[batch] * 2 : 1;
    state->members[batch] = must_reallocate(state->members[batch], capacity * sizeof(int));
  }
  state->members[batch][state->counts[batch]++] = order;
  state->loads[batch] += state->problem->orders[order].quantity;
  state->batch_of[order] = batch;
}

static void set_distance(State *state, int batch, double distance) {
  state->total += distance - state->distances[batch];
  state->distances[batch] = distance;
}

/* Keeps one empty batch at the end, so that a move can open a new one; closes batches that ran empty. */
static void tidy(State *state, int batch) {
  if (batch == state->batch_count) {
    state->batch_count++;
  } else if (state->counts[batch] == 0) {
    int last = --state->batch_count;
    if (batch == last) return;
    int *emptied = state->members[batch];
    state->members[batch] = state->members[last];
    state->members[last] = emptied;
    state->counts[batch] = state->counts[last];
    state->loads[batch] = state->loads[last];
    state->distances[batch] = state->distances[last];
    for (int i = 0; i < state->counts[batch]; i++) state->batch_of[state->members[batch][i]] = batch;
    state->counts[last] = 0;
    state->loads[last] = state->distances[last] = 0;
  }
}

static void keep(const State *state, Result *result, int always) {
  memcpy(result->batch_of, state->batch_of, (size_t)state->problem->order_count * sizeof(int));
  result->batch_count = state->batch_count;
  note(result, state->total, always);
}

/* Farthest orders first, each into the batch whose tour it lengthens least. */
static void insert_all(State *state, const Settings *settings) {
  Order **sorted = orders_by_reach(state->problem);
  for (int i = 0; i < state->problem->order_count; i++) {
    int order = (int)(sorted[i] - state->problem->orders), best = state->batch_count;
    double best_distance = distance_of(state, &order, 1), best_increase = best_distance;
    int hurry = stop_requested || elapsed_seconds() > settings->duration;
    for (int batch = 0; batch < state->batch_count && !(hurry && best != state->batch_count); batch++) {
      if (!has_room(state, batch, -1, order)) continue;
      double distance = distance_with(state, batch, -1, order);
      if (distance - state->distances[batch] < best_increase) {
        best = batch;
        best_distance = distance;
        best_increase = distance - state->distances[batch];
      }
    }
    put_in(state, order, best);
    set_distance(state, best, best_distance);
    tidy(state, best);
  }
  free(sorted);
}

/* splitmix64: small, and the same everywhere for the same seed. */
static uint64_t random_bits(uint64_t *random) {
  uint64_t z = (*random += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int random_below(uint64_t *random, int limit) { return (int)(random_bits(random) % (uint64_t)limit); }

static double random_unit(uint64_t *random) { return (double)(random_bits(random) >> 11) * 0x1p-53; }

/* Whether a change for the worse is taken at this temperature; changes for the better always are. */
static int accepts(double change, double temperature, uint64_t *random) {
  return change <= 0 || (temperature > 0 && random_unit(random) < exp(-change / temperature));
}

static void try_relocate(State *state, int order, int to, double temperature, uint64_t *random) {
  int from = state->batch_of[order];
  if (from == to || !has_room(state, to, -1, order)) return;
  double without = distance_with(state, from, order, -1);
  double with = distance_with(state, to, -1, order);
  if (!accepts(without + with - state->distances[from] - state->distances[to], temperature, random)) return;
  take_out(state, order);
  put_in(state, order, to);
  set_distance(state, from, without);
  set_distance(state, to, with);
  tidy(state, to);
  if (state->counts[from] == 0) tidy(state, from);
}

static void try_swap(State *state, int order, int other, double temperature, uint64_t *random) {
  int a = state->batch_of[order], b = state->batch_of[other];
  if (a == b || !has_room(state, a, order, other) || !has_room(state, b, other, order)) return;
  double in_a = distance_with(state, a, order, other);
  double in_b = distance_with(state, b, other, order);
  if (!accepts(in_a + in_b - state->distances[a] - state->distances[b], temperature, random)) return;
  take_out(state, order);
  take_out(state, other);
  put_in(state, order, b);
  put_in(state, other, a);
  set_distance(state, a, in_a);
  set_distance(state, b, in_b);
}

static void anneal(State *state, const Settings *settings, Result *result) {
  const double hot = 0.08 * state->total / state->batch_count, cold = 0.002 * hot;
  uint64_t random = settings->seed;
  double temperature = hot, begun = elapsed_seconds();
  int orders = state->problem->order_count;
  while (!stop_requested && result->distance > result->bound + 1e-6) {
    if (settings->iterations > 0 && result->moves >= settings->iterations) break;
    if (fmod(result->moves, 128) == 0) {
      double now = elapsed_seconds();
      if (now >= settings->duration) break;
      double progress = settings->iterations > 0 ? result->moves / settings->iterations
                                                 : (now - begun) / (settings->duration - begun);
      temperature = hot * pow(cold / hot, progress);
    }
    result->moves++;
    int order = random_below(&random, orders), other = random_below(&random, orders);
    int kind = random_below(&random, 50);
    if (kind == 0) try_relocate(state, order, state->batch_count, temperature, &random);
    else if (kind < 25) try_relocate(state, order, state->batch_of[other], temperature, &random);
    else try_swap(state, order, other, temperature, &random);
    if (state->total < result->distance - 1e-7) keep(state, result, 0);
  }
}

/* best[set] is the least distance that batches all orders of the set; the batch with its lowest order is tried in all ways. */
static void search_exactly(State *state, Result *result) {
  int orders = state->problem->order_count;
  size_t sets = (size_t)1 << orders;
  double *tour = must_allocate(sets * sizeof *tour), *best = must_allocate(sets * sizeof *best);
  size_t *choice = must_allocate(sets * sizeof *choice);
  for (size_t set = 1; set < sets; set++) {
    double load = 0;
    int count = 0;
    for (int i = 0; i < orders; i++) {
      if (!(set >> i & 1)) continue;
      state->candidate[count++] = i;
      load += state->problem->orders[i].quantity;
    }
    int fits = load <= capacity_of(state->problem) && count <= state->problem->orders_maximum;
    tour[set] = fits ? distance_of(state, state->candidate, count) : INFINITY;
  }
  best[0] = 0;
  for (size_t set = 1; set < sets; set++) {
    size_t lowest = set & (~set + 1), rest = set ^ lowest, part = rest;
    best[set] = INFINITY;
    for (;;) {
      double distance = tour[part | lowest] + best[rest ^ part];
      if (distance < best[set]) {
        best[set] = distance;
        choice[set] = part | lowest;
      }
      if (part == 0) break;
      part = (part - 1) & rest;
    }
  }
  result->batch_count = 0;
  for (size_t left = sets - 1; left; left ^= choice[left]) {
    for (int i = 0; i < orders; i++) {
      if (choice[left] >> i & 1) result->batch_of[i] = result->batch_count;
    }
    result->batch_count++;
  }
  result->moves = (double)sets;
  result->proved = 1;
  result->bound = best[sets - 1];
  note(result, best[sets - 1], 1);
  free(tour);
  free(best);
  free(choice);
}

void search(const Problem *problem, const Settings *settings, Result *result) {
  size_t room = (size_t)problem->order_count + 2;
  State state = {problem, settings->routing, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0};
  state.scratch = must_allocate(((size_t)problem->pick_total + 1) * sizeof *state.scratch);
  state.candidate = must_allocate(room * sizeof *state.candidate);
  state.members = must_allocate(room * sizeof *state.members);
  state.counts = must_allocate(room * sizeof *state.counts);
  state.loads = must_allocate(room * sizeof *state.loads);
  state.distances = must_allocate(room * sizeof *state.distances);
  state.batch_of = must_allocate(room * sizeof *state.batch_of);
  for (size_t i = 0; i < room; i++) {
    state.members[i] = NULL;
    state.counts[i] = 0;
    state.loads[i] = state.distances[i] = 0;
  }
  memset(result, 0, sizeof *result);
  result->batch_of = must_allocate(room * sizeof *result->batch_of);
  result->bound = lower_bound(problem);
  insert_all(&state, settings);
  keep(&state, result, 1);
  if (problem->order_count <= EXACT_MAXIMUM && !stop_requested) {
    search_exactly(&state, result);
  } else if (state.batch_count > 0) {
    anneal(&state, settings, result);
    result->proved = result->distance <= result->bound + 1e-6;
    if (result->points[result->point_count - 1].value != result->distance) note(result, result->distance, 1);
  }
}
