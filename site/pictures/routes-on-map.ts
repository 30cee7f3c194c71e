/** Places the routes of a run of the app vehicle-routing in a picture, from its input with `lon` and `lat`. */

type Coordinates = { lon: number; lat: number };
export type Input = {
  stops: { id: string; location: Coordinates }[];
  vehicles: { id: string; start: Coordinates; end: Coordinates }[];
};
export type Run = { output: { solution: { vehicles: { id: string; route: { stop: string }[] }[] } } };

/** The space for the map in the picture, in its units; the map is centred in it. */
export type Box = { left: number; top: number; width: number; height: number };

/** Path data: a line for each route, its stops as segments of no length, and the depots in the same way. */
export type ProjectedRoutes = { routes: { vehicle: string; line: string; stops: string }[]; depots: string };

/** Projects routes onto the box. Scales longitude by the cosine of the mean latitude, so shapes near the stops are right. */
export function projectRoutes({ stops, vehicles }: Input, { output }: Run, box: Box): ProjectedRoutes {
  const middle = stops.reduce((sum, { location }) => sum + location.lat, 0) / stops.length;
  const plane = ({ lon, lat }: Coordinates) => [lon * Math.cos((middle * Math.PI) / 180), -lat] as const;
  const places = [
    ...stops.map(({ location }) => location),
    ...vehicles.flatMap(({ start, end }) => [start, end]),
  ];
  const [xs, ys] = [places.map((place) => plane(place)[0]), places.map((place) => plane(place)[1])];
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const [up, down] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(box.width / (high - low), box.height / (down - up));
  const left = box.left + (box.width - (high - low) * scale) / 2;
  const above = box.top + (box.height - (down - up) * scale) / 2;
  const at = (place: Coordinates) => {
    const [x, y] = plane(place);
    return `${(left + (x - low) * scale).toFixed(1)} ${(above + (y - up) * scale).toFixed(1)}`;
  };
  const known = new Map(stops.map(({ id, location }) => [id, location]));
  const routes = output.solution.vehicles.map(({ id, route }) => {
    const vehicle = vehicles.find((one) => one.id === id);
    if (!vehicle) throw new Error(`The input has no vehicle "${id}", which the run plans.`);
    const stopsOfRoute = route.map(({ stop }) => {
      const place = known.get(stop);
      if (!place) throw new Error(`The input has no stop "${stop}", which the run plans.`);
      return place;
    });
    return {
      vehicle: id,
      line: `M${[vehicle.start, ...stopsOfRoute, vehicle.end].map(at).join('L')}`,
      stops: stopsOfRoute.map((place) => `M${at(place)}h0`).join(''),
    };
  });
  const depots = [...new Set(vehicles.map(({ start }) => at(start)))].map((place) => `M${place}h0`).join('');
  return { routes, depots };
}
