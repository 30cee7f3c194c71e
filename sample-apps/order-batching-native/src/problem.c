#include "problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { PATH_SIZE = 96, SHOWN_SIZE = 60, ORDERS_LIMIT = 5000, PICKS_LIMIT = 1000 };

static void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void refuse(const char *path, const Json *value, const char *right) {
  if (!value) complain("%s is missing: it must be %s", path, right);
  char shown[SHOWN_SIZE];
  size_t length = 0;
  for (size_t i = 0; i < value->source_length && length + 4 < sizeof shown; i++) {
    char c = value->source[i];
    shown[length++] = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  }
  shown[length] = 0;
  complain("%s is %s%s: it must be %s", path, shown, value->source_length > length ? "..." : "", right);
}

static const Json *expect_object(const Json *value, const char *path, const char *const known[]) {
  if (!value || value->kind != JSON_OBJECT) refuse(path, value, "an object");
  for (size_t i = 0; i < value->count; i++) {
    int found = 0;
    for (int k = 0; known[k]; k++) found |= strcmp(value->keys[i], known[k]) == 0;
    if (found) continue;
    fprintf(stderr, "%s has the unknown field ", path);
    json_write_text(stderr, value->keys[i]);
    fprintf(stderr, ": it may have ");
    for (int k = 0; known[k]; k++) fprintf(stderr, "%s%s", k ? ", " : "", known[k]);
    complain("");
  }
  return value;
}

static const Json *expect_list(const Json *value, const char *path, size_t maximum) {
  char right[64];
  snprintf(right, sizeof right, "a list of at most %zu", maximum);
  if (!value || value->kind != JSON_ARRAY) refuse(path, value, right);
  if (value->count > maximum) complain("%s has %zu entries: it must be %s", path, value->count, right);
  return value;
}

/* A missing value is `otherwise`, unless that is not a number. */
static double expect_number(const Json *value, const char *path, double minimum, double maximum, int whole,
                            double otherwise) {
  if (!value && !isnan(otherwise)) return otherwise;
  char right[96];
  snprintf(right, sizeof right, "a %snumber from %.10g to %.10g", whole ? "whole " : "", minimum, maximum);
  if (!value || value->kind != JSON_NUMBER || value->number < minimum || value->number > maximum ||
      (whole && floor(value->number) != value->number))
    refuse(path, value, right);
  return value->number;
}

static int compare_picks(const void *left, const void *right) {
  const Pick *a = left, *b = right;
  if (a->aisle != b->aisle) return a->aisle - b->aisle;
  return (a->position > b->position) - (a->position < b->position);
}

static void read_order(const Problem *problem, Order *order, const Json *value, int index) {
  static const char *const order_fields[] = {"id", "picks", NULL};
  static const char *const pick_fields[] = {"aisle", "position", "quantity", NULL};
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "orders[%d]", index);
  expect_object(value, path, order_fields);

  const Json *id = json_member(value, "id");
  snprintf(path, sizeof path, "orders[%d].id", index);
  if (!id || id->kind != JSON_STRING || !id->text[0]) refuse(path, id, "a non-empty string");
  order->id = id->text;

  snprintf(path, sizeof path, "orders[%d].picks", index);
  const Json *picks = expect_list(json_member(value, "picks"), path, PICKS_LIMIT);
  if (picks->count == 0) refuse(path, picks, "a list with at least one pick");
  order->pick_count = (int)picks->count;
  order->picks = must_allocate(picks->count * sizeof *order->picks);
  order->quantity = 0;
  order->reach = 0;
  for (int i = 0; i < order->pick_count; i++) {
    snprintf(path, sizeof path, "orders[%d].picks[%d]", index, i);
    const Json *raw = expect_object(picks->items[i], path, pick_fields);
    Pick *pick = &order->picks[i];
    snprintf(path, sizeof path, "orders[%d].picks[%d].aisle", index, i);
    pick->aisle = (int)expect_number(json_member(raw, "aisle"), path, 0, problem->aisle_count - 1, 1, NAN);
    snprintf(path, sizeof path, "orders[%d].picks[%d].position", index, i);
    pick->position = expect_number(json_member(raw, "position"), path, 0, problem->aisle_length, 0, NAN);
    snprintf(path, sizeof path, "orders[%d].picks[%d].quantity", index, i);
    order->quantity += expect_number(json_member(raw, "quantity"), path, 0, 1e6, 0, 1);
    double reach = problem->aisle_distance * abs(pick->aisle - problem->depot_aisle) + pick->position;
    if (reach > order->reach) order->reach = reach;
  }
  qsort(order->picks, picks->count, sizeof *order->picks, compare_picks);
}

static int compare_ids(const void *left, const void *right) {
  const Order *a = *(Order *const *)left, *b = *(Order *const *)right;
  int by_id = strcmp(a->id, b->id);
  return by_id ? by_id : (a > b) - (a < b);
}

static void refuse_duplicate_ids(const Problem *problem) {
  size_t count = (size_t)problem->order_count;
  Order **sorted = must_allocate(count * sizeof *sorted);
  for (size_t i = 0; i < count; i++) sorted[i] = &problem->orders[i];
  qsort(sorted, count, sizeof *sorted, compare_ids);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(sorted[i - 1]->id, sorted[i]->id) != 0) continue;
    fprintf(stderr, "orders[%d].id is ", (int)(sorted[i] - problem->orders));
    json_write_text(stderr, sorted[i]->id);
    complain(", like orders[%d].id: it must be unique", (int)(sorted[i - 1] - problem->orders));
  }
  free(sorted);
}

void problem_read(Problem *problem, const char *text, size_t length) {
  static const char *const fields[] = {"warehouse", "capacity", "max_orders", "orders", NULL};
  static const char *const warehouse_fields[] = {"aisles", "aisle_length", "aisle_distance", "depot_aisle", NULL};
  char error[128];
  if (strspn(text, " \t\r\n") == length) complain("standard input is empty: it must hold one JSON object");
  const Json *root = json_parse(text, length, error, sizeof error);
  if (!root) complain("standard input is not JSON (%s): it must hold one JSON object", error);
  expect_object(root, "the input", fields);

  const Json *warehouse = expect_object(json_member(root, "warehouse"), "warehouse", warehouse_fields);
  problem->aisle_count = (int)expect_number(json_member(warehouse, "aisles"), "warehouse.aisles", 1, 1000, 1, NAN);
  problem->aisle_length =
      expect_number(json_member(warehouse, "aisle_length"), "warehouse.aisle_length", 0, 1e5, 0, NAN);
  problem->aisle_distance =
      expect_number(json_member(warehouse, "aisle_distance"), "warehouse.aisle_distance", 0, 1e5, 0, NAN);
  problem->depot_aisle = (int)expect_number(json_member(warehouse, "depot_aisle"), "warehouse.depot_aisle", 0,
                                            problem->aisle_count - 1, 1, 0);
  problem->capacity = expect_number(json_member(root, "capacity"), "capacity", 0, 1e9, 0, NAN);
  problem->orders_maximum =
      (int)expect_number(json_member(root, "max_orders"), "max_orders", 1, ORDERS_LIMIT, 1, ORDERS_LIMIT);

  const Json *orders = expect_list(json_member(root, "orders"), "orders", ORDERS_LIMIT);
  problem->order_count = (int)orders->count;
  problem->orders = must_allocate(orders->count * sizeof *problem->orders);
  problem->pick_total = 0;
  for (int i = 0; i < problem->order_count; i++) {
    read_order(problem, &problem->orders[i], orders->items[i], i);
    problem->pick_total += problem->orders[i].pick_count;
  }
  refuse_duplicate_ids(problem);
}
