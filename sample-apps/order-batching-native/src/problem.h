/* The problem: a warehouse, a capacity, orders with picks. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <stddef.h>

typedef struct {
  int aisle;
  double position;
} Pick;

typedef struct {
  const char *id;
  double quantity;
  /* Sorted by aisle, then position. */
  Pick *picks;
  int pick_count;
  /* Distance from the depot to the farthest pick. */
  double reach;
} Order;

typedef struct {
  int aisle_count;
  double aisle_length;
  double aisle_distance;
  int depot_aisle;
  double capacity;
  int orders_maximum;
  Order *orders;
  int order_count;
  int pick_total;
} Problem;

/* Parses the text of standard input, which must stay alive. Wrong input ends the program: exit code 1 and one sentence
   on standard error that names the field, its value and what would be right. */
void problem_read(Problem *problem, const char *text, size_t length);

#endif
