/** An instance as the app's own problem, so that the benchmark measures the solver the app uses. */
import type { Problem } from '../src/input/problem.ts';
import { distanceBetween, type Instance } from './instances.ts';

export function toProblem(instance: Instance): Problem {
  const { nodes, capacity, vehicles, hasTimeWindows: timed } = instance;
  const size = nodes.length;
  const distance = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) distance[i * size + j] = i === j ? 0 : distanceBetween(instance, i, j);
  }
  return {
    dimensions: ['load'],
    stops: nodes.slice(1).map((node, i) => ({
      id: String(i + 1),
      place: i + 1,
      windows: [timed ? { from: node.from, to: node.to } : { from: -Infinity, to: Infinity }],
      serviceDuration: node.service,
      deliver: [node.demand],
      pickup: [0],
      skills: [],
      vehicles: null,
      unplannedPenalty: null,
      priority: 6,
    })),
    vehicles: Array.from({ length: vehicles }, (_, v) => ({
      id: `vehicle ${v + 1}`,
      start: 0,
      end: 0,
      shift: timed ? { from: nodes[0].from, to: nodes[0].to } : { from: 0, to: Infinity },
      capacity: [capacity],
      speed: 1,
      skills: [],
      maxStops: Infinity,
      maxDistance: Infinity,
      maxDuration: Infinity,
      activationCost: 0,
      costPerDistance: 1,
      costPerDuration: 0,
      initialStops: [],
    })),
    shipments: [],
    places: nodes.map(({ x, y }) => ({ x, y, geographic: false })),
    distance,
    duration: null,
    clock: null,
  };
}
