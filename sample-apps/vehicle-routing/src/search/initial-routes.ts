/**
 * Places the initial stops of the vehicles on their routes before the search begins. Fixed stops come first, in their
 * order, and must fit. The others stay if they still fit, so a plan of yesterday with a cancelled or changed stop remains
 * a good start.
 */
import { InputError, quoteValue } from '../input/fields.ts';
import type { State } from './state.ts';

/** Returns the stops that were asked for but did not fit. Throws InputError when fixed stops break a limit. */
export function placeInitialStops(state: State): number[] {
  const { model } = state;
  const { vehicles, stops } = model.problem;
  const dropped: number[] = [];
  vehicles.forEach((vehicle, v) => {
    const list = vehicle.initialStops;
    const placed: number[] = [];
    list.forEach(({ stop, fixed }, i) => {
      if (!fixed) return;
      if (model.allowed[stop * model.vehicleCount + v] === 0 || !appendIn(state, v, [...placed, stop])) {
        throw new InputError(
          `vehicles[${v}].initial_stops[${i}] is ${quoteValue(stops[stop].id)}, a fixed stop that ${quoteValue(vehicle.id)} cannot serve in this order; check its windows, skills, amounts and the limits of the vehicle.`,
        );
      }
      placed.push(stop);
    });
    // A free stop goes back between the neighbours it had; the whole route has to hold after each addition.
    const onRoute = new Set(placed);
    for (const { stop, fixed } of list) {
      if (fixed) continue;
      const allowed = model.allowed[stop * model.vehicleCount + v] === 1;
      const partner = model.partner[stop];
      if (partner >= 0 && !list.some((item) => item.stop === partner)) {
        dropped.push(stop);
        continue;
      }
      const wanted = partner >= 0 ? [stop, partner] : [stop];
      if (wanted.every((one) => onRoute.has(one))) continue;
      for (const one of wanted) onRoute.add(one);
      const order = list.map((item) => item.stop).filter((one) => onRoute.has(one));
      if (allowed && appendIn(state, v, order)) continue;
      for (const one of wanted) if (!placed.includes(one)) onRoute.delete(one);
      appendIn(
        state,
        v,
        list.map((item) => item.stop).filter((one) => onRoute.has(one)),
      );
      dropped.push(...wanted.filter((one) => !onRoute.has(one) && !dropped.includes(one)));
    }
  });
  return dropped;
}

/** Makes the route exactly these stops, each in the earliest window it can be reached in; true if it keeps all limits. */
function appendIn(state: State, v: number, order: number[]): boolean {
  const { model } = state;
  for (const stop of state.listStops(v)) state.remove(stop);
  const first = state.firstVisit(v);
  let behind = first;
  let ready = model.shiftFrom[v];
  for (const stop of order) {
    const arrival = ready + model.duration[v][model.place[behind] * model.size + model.place[stop]];
    let window = model.windowFirst[stop];
    while (window + 1 < model.windowFirst[stop + 1] && model.windowTo[window] < arrival) window++;
    state.insert(stop, behind, window);
    ready = Math.max(arrival, model.windowFrom[window]) + model.service[stop];
    behind = stop;
  }
  const whole = state.refresh(v);
  const seen = new Set<number>();
  const paired = order.every((stop) => {
    seen.add(stop);
    return model.isDelivery[stop] === 0 || seen.has(model.partner[stop]);
  });
  return whole && paired;
}
