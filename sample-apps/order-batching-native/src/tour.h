/* How far a picker walks to collect a set of orders in one tour from the depot and back. */
#ifndef TOUR_H
#define TOUR_H

#include "problem.h"

typedef enum { ROUTING_SHORTEST, ROUTING_S_SHAPE, ROUTING_LARGEST_GAP } Routing;

/* The length of the tour; 0 for no orders. `scratch` has room for the picks of all orders of the problem. */
double tour_length(const Problem *problem, Routing routing, const int *orders, int count, Pick *scratch);

/* Puts the aisles that the tour enters into `aisles` in rising order and returns how many they are. */
int tour_aisles(const Problem *problem, const int *orders, int count, Pick *scratch, int *aisles);

#endif
