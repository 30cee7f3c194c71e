/*
 * Order batching: a problem on standard input, the batches with the shortest total walk on standard output. Everything a
 * person reads while it runs goes to standard error. The end of the process frees all memory: it solves one problem.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "problem.h"
#include "search.h"

/* A statistics block is ignored beyond 10 kB; this many points stay well below. */
enum { POINTS_MAXIMUM = 100 };

static const char *const routing_names[] = {"shortest", "s-shape", "largest-gap"};

static void on_signal(int number) {
  (void)number;
  stop_requested = 1;
}

static double option_number(const char *name, const char *text, double minimum, double maximum, int whole) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= minimum && value <= maximum) || (whole && floor(value) != value)) {
    fprintf(stderr, "option -%s is \"%.40s\": it must be a %snumber from %.10g to %.10g\n", name, text,
            whole ? "whole " : "", minimum, maximum);
    exit(1);
  }
  return value;
}

static Routing option_routing(const char *text) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, routing_names[i]) == 0) return (Routing)i;
  }
  fprintf(stderr, "option -routing is \"%.40s\": it must be shortest, s-shape or largest-gap\n", text);
  exit(1);
}

static Settings read_options(int count, char **arguments) {
  Settings settings = {10, 1, 0, ROUTING_SHORTEST};
  for (int i = 1; i < count; i += 2) {
    const char *name = arguments[i][0] == '-' ? arguments[i] + 1 : "";
    if (*name == '-') name++;
    int known = !strcmp(name, "duration") || !strcmp(name, "seed") || !strcmp(name, "iterations") ||
                !strcmp(name, "routing");
    if (!known) {
      fprintf(stderr, "option \"%.40s\" is unknown: the options are -duration, -seed, -iterations, -routing\n",
              arguments[i]);
      exit(1);
    }
    if (i + 1 == count) {
      fprintf(stderr, "option -%s has no value: it takes one\n", name);
      exit(1);
    }
    const char *text = arguments[i + 1];
    if (*name == 'd') settings.duration = option_number(name, text, 0.1, 43200, 0);
    else if (*name == 's') settings.seed = (uint64_t)option_number(name, text, 0, 2147483647, 1);
    else if (*name == 'i') settings.iterations = option_number(name, text, 0, 1e12, 1);
    else settings.routing = option_routing(text);
  }
  return settings;
}

static char *read_all(FILE *in, size_t *length) {
  size_t capacity = 1 << 16;
  char *text = must_allocate(capacity);
  *length = 0;
  for (;;) {
    *length += fread(text + *length, 1, capacity - *length - 1, in);
    if (*length + 1 < capacity) break;
    capacity *= 2;
    text = must_reallocate(text, capacity);
  }
  text[*length] = 0;
  return text;
}

static void write_batches(const Problem *problem, const Settings *settings, const Result *result) {
  int *orders = must_allocate(((size_t)problem->order_count + 1) * sizeof *orders);
  int *aisles = must_allocate(((size_t)problem->pick_total + 1) * sizeof *aisles);
  Pick *scratch = must_allocate(((size_t)problem->pick_total + 1) * sizeof *scratch);
  for (int batch = 0; batch < result->batch_count; batch++) {
    int count = 0;
    double quantity = 0;
    printf("%s{\"orders\":[", batch ? "," : "");
    for (int i = 0; i < problem->order_count; i++) {
      if (result->batch_of[i] != batch) continue;
      if (count) putchar(',');
      json_write_text(stdout, problem->orders[i].id);
      quantity += problem->orders[i].quantity;
      orders[count++] = i;
    }
    printf("],\"quantity\":");
    json_write_number(stdout, quantity);
    printf(",\"distance\":");
    json_write_number(stdout, tour_length(problem, settings->routing, orders, count, scratch));
    printf(",\"aisles\":[");
    int entered = tour_aisles(problem, orders, count, scratch, aisles);
    for (int i = 0; i < entered; i++) printf("%s%d", i ? "," : "", aisles[i]);
    printf("]}");
  }
}

/* Orders that fit into no batch; returns how many, and writes them as reasons when asked to. */
static int oversized_orders(const Problem *problem, int write) {
  int found = 0;
  for (int i = 0; i < problem->order_count; i++) {
    const Order *order = &problem->orders[i];
    if (order->quantity <= capacity_of(problem)) continue;
    if (write) {
      size_t room = strlen(order->id) + 128;
      char *reason = must_allocate(room);
      snprintf(reason, room, "order \"%s\" has a quantity of %.10g, but the capacity is %.10g", order->id,
               order->quantity, problem->capacity);
      if (found) putchar(',');
      json_write_text(stdout, reason);
      free(reason);
    }
    found++;
  }
  return found;
}

static void write_statistics(const Problem *problem, const Result *result, const char *status, int has_solution) {
  printf("\"statistics\":{\"schema\":\"v1\",\"run\":{\"duration\":%.6f,\"iterations\":%.0f},\"result\":{\"duration\":%.6f",
         elapsed_seconds(), result->moves, result->improved_at);
  if (has_solution) {
    printf(",\"value\":");
    json_write_number(stdout, result->distance);
  }
  printf(",\"custom\":{\"status\":\"%s\",\"orders\":%d", status, problem->order_count);
  if (has_solution) {
    double gap = result->distance > 0 ? (result->distance - result->bound) / result->distance : 0;
    printf(",\"batches\":%d,\"batches_minimum\":%d,\"bound\":", result->batch_count, batches_minimum(problem));
    json_write_number(stdout, result->bound);
    printf(",\"gap\":%.6f", gap > 0 ? gap : 0);
  }
  printf("}},\"series_data\":{\"value\":{\"name\":\"incumbent\",\"data_points\":[");
  int step = result->point_count / POINTS_MAXIMUM + 1, written = 0;
  for (int i = 0; i < result->point_count; i++) {
    if (i % step && i != result->point_count - 1) continue;
    printf("%s{\"x\":%.6f,\"y\":", written++ ? "," : "", result->points[i].seconds);
    json_write_number(stdout, result->points[i].value);
    putchar('}');
  }
  printf("]}}}");
}

int main(int count, char **arguments) {
  Settings settings = read_options(count, arguments);
  size_t length;
  char *text = read_all(stdin, &length);
  Problem problem;
  problem_read(&problem, text, length);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  elapsed_seconds();

  Result result = {0};
  int feasible = oversized_orders(&problem, 0) == 0;
  if (feasible) search(&problem, &settings, &result);
  const char *status = !feasible ? "infeasible" : result.proved ? "optimal" : "feasible";
  fprintf(stderr, "%8.2f s  %s\n", elapsed_seconds(), status);

  printf("{\"options\":{\"duration\":%.10g,\"seed\":%.0f,\"iterations\":%.0f,\"routing\":\"%s\"},", settings.duration,
         (double)settings.seed, settings.iterations, routing_names[settings.routing]);
  printf("\"solution\":{\"status\":\"%s\",\"reasons\":[", status);
  oversized_orders(&problem, 1);
  printf("],\"batches\":[");
  write_batches(&problem, &settings, &result);
  printf("]},");
  write_statistics(&problem, &result, status, feasible);
  printf("}\n");
  if (fflush(stdout) != 0) {
    fprintf(stderr, "the output could not be written to standard output\n");
    return 1;
  }
  return 0;
}
