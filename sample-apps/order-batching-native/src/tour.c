#include "tour.h"

/* Merges the sorted picks of one order into the sorted picks gathered so far, from the back, in place. */
static int merge(Pick *gathered, int count, const Order *order) {
  int left = count - 1, right = order->pick_count - 1;
  for (int to = count + order->pick_count - 1; right >= 0; to--) {
    const Pick *b = &order->picks[right];
    int take_left = left >= 0 && (gathered[left].aisle > b->aisle ||
                                  (gathered[left].aisle == b->aisle && gathered[left].position > b->position));
    gathered[to] = take_left ? gathered[left--] : order->picks[right--];
  }
  return count + order->pick_count;
}

static int gather(const Problem *problem, const int *orders, int count, Pick *scratch) {
  int picks = 0;
  for (int i = 0; i < count; i++) picks = merge(scratch, picks, &problem->orders[orders[i]]);
  return picks;
}

/*
 * Both rules walk the front cross aisle from the depot over the whole span of aisles and back, so they differ only in
 * the aisles. S-shape walks each aisle with picks from end to end; with an odd number it turns around in the last one.
 * Largest gap walks the first and the last aisle from end to end, and the ones between from both ends up to the largest
 * stretch without a pick.
 */
double tour_length(const Problem *problem, Routing routing, const int *orders, int count, Pick *scratch) {
  int picks = gather(problem, orders, count, scratch);
  if (picks == 0) return 0;
  double length = problem->aisle_length;
  int first = scratch[0].aisle, last = scratch[picks - 1].aisle;
  int left = first < problem->depot_aisle ? first : problem->depot_aisle;
  int right = last > problem->depot_aisle ? last : problem->depot_aisle;
  double across = 2 * problem->aisle_distance * (right - left);
  double farthest_in_last = scratch[picks - 1].position;

  int aisles = 0;
  double between = 0;
  for (int i = 0; i < picks;) {
    int aisle = scratch[i].aisle;
    double previous = 0, gap = 0;
    for (; i < picks && scratch[i].aisle == aisle; i++) {
      if (scratch[i].position - previous > gap) gap = scratch[i].position - previous;
      previous = scratch[i].position;
    }
    if (length - previous > gap) gap = length - previous;
    if (aisle != first && aisle != last) between += 2 * (length - gap);
    aisles++;
  }
  double s_shape = aisles % 2 == 0 ? aisles * length : (aisles - 1) * length + 2 * farthest_in_last;
  double largest_gap = aisles == 1 ? 2 * farthest_in_last : 2 * length + between;
  if (routing == ROUTING_S_SHAPE) return across + s_shape;
  if (routing == ROUTING_LARGEST_GAP) return across + largest_gap;
  return across + (s_shape < largest_gap ? s_shape : largest_gap);
}

int tour_aisles(const Problem *problem, const int *orders, int count, Pick *scratch, int *aisles) {
  int picks = gather(problem, orders, count, scratch), found = 0;
  for (int i = 0; i < picks; i++) {
    if (found == 0 || aisles[found - 1] != scratch[i].aisle) aisles[found++] = scratch[i].aisle;
  }
  return found;
}
