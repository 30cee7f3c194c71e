/**
 * Checks a solution against the instance as published, without anything of the solver: every customer once, loads,
 * windows, number of vehicles. Returns the cost as the convention of the instance counts it.
 */
import { distanceBetween, type Instance } from './instances.ts';

export function checkRoutes(instance: Instance, routes: number[][]): { cost: number; faults: string[] } {
  const faults: string[] = [];
  const visits = new Array<number>(instance.nodes.length).fill(0);
  let units = 0;
  const used = routes.filter((route) => route.length > 0);
  if (used.length > instance.vehicles) faults.push(`${used.length} routes, ${instance.vehicles} vehicles`);
  for (const [r, route] of used.entries()) {
    let load = 0;
    let time = instance.nodes[0].from;
    let at = 0;
    for (const customer of [...route, 0]) {
      const { demand, from, to, service } = instance.nodes[customer];
      const leg = distanceBetween(instance, at, customer);
      units += leg;
      time = Math.max(time + leg, from);
      if (instance.hasTimeWindows && time > to)
        faults.push(`route ${r}: customer ${customer} served at ${time}, closed since ${to}`);
      time += service;
      load += demand;
      visits[customer]++;
      at = customer;
    }
    if (load > instance.capacity) faults.push(`route ${r}: load ${load}, capacity ${instance.capacity}`);
  }
  visits.forEach((count, customer) => {
    if (customer > 0 && count !== 1) faults.push(`customer ${customer} is visited ${count} times`);
  });
  return { cost: units / instance.scale, faults };
}
