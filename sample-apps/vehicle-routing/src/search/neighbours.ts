/** Finds the stops near a stop. The search removes stops that are near one another, and tries routes with near stops. */
import type { Problem } from '../input/problem.ts';

/** The ruin step sees at most this many neighbours of a stop: a bound on memory, far above what one step removes. */
const nearLimit = 400;

/** A stop is tried on the routes of this many likely route neighbours. */
const kinLimit = 60;

/** How much a second of forced waiting makes two stops apart, beside a second of driving. */
const waitingWeight = 0.2;

/** The other stops of each stop, nearest first by the way there and back. */
export function findNearestStops(
  problem: Problem,
  distance: Float64Array,
  distanceTo: Float64Array,
  size: number,
): { near: Int32Array; nearCount: number } {
  const n = problem.stops.length;
  const nearCount = Math.max(0, Math.min(n - 1, nearLimit));
  const near = new Int32Array(n * nearCount);
  const apart = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const row = problem.stops[i].place * size;
    const others: number[] = [];
    for (let j = 0; j < n; j++) {
      apart[j] = distance[row + problem.stops[j].place] + distanceTo[row + problem.stops[j].place];
      if (j !== i) others.push(j);
    }
    others.sort((a, b) => apart[a] - apart[b] || a - b);
    near.set(others.slice(0, nearCount), i * nearCount);
  }
  return { near, nearCount };
}

/**
 * Sorts stops by how well they follow or precede one another: by their distance plus the waiting that the windows force. A
 * second stop that cannot be reached in time comes last. The better of both directions counts.
 */
export function findRelatedStops(
  { stops }: Problem,
  distance: Float64Array,
  duration: Float64Array,
  size: number,
): { kin: Int32Array; kinCount: number } {
  const n = stops.length;
  const kinCount = Math.max(0, Math.min(n - 1, kinLimit));
  const kin = new Int32Array(n * kinCount);
  const opening = stops.map(({ windows }) => windows[0].from);
  const closing = stops.map(({ windows }) => windows[windows.length - 1].to);
  const bySize = largest(duration) > 0 ? largest(distance) / largest(duration) : 0;
  const following = (a: number, b: number) => {
    const cell = stops[a].place * size + stops[b].place;
    const travel = stops[a].serviceDuration + duration[cell];
    if (opening[a] + travel > closing[b]) return Infinity;
    const waiting = Math.max(0, opening[b] - travel - closing[a]);
    return distance[cell] + waitingWeight * bySize * waiting;
  };
  const worth = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const others: number[] = [];
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      worth[j] = Math.min(following(i, j), following(j, i));
      others.push(j);
    }
    others.sort((a, b) => (worth[a] === worth[b] ? a - b : worth[a] - worth[b]));
    kin.set(others.slice(0, kinCount), i * kinCount);
  }
  return { kin, kinCount };
}

function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
