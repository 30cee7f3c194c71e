/** Reads routes, that is lists of stops with coordinates, and places; and turns them into shapes on a map. */
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { type MapData, type MapShape, type Position, readPosition } from '../maps/read-geojson.ts';
import { type DataItem, type Fact, listFacts, readField, toName } from './data-items.ts';

const ROUTES_MAX = 500;
const STOPS_MAX = 20_000;
/** Coordinates of a plane are drawn at the equator in a square of this size, where the map distorts nothing. */
const PLANE_DEGREES = 1;

const STOPS_FIELDS = ['stops', 'route', 'visits'];
const NAME_FIELDS = ['id', 'name', 'vehicle', 'vehicle_id', 'route_id'];
const KEY_FIELDS = ['id', 'stop.id', 'stop', 'name', 'stop_id', 'location_id'];
const STOP_NAME_FIELDS = ['stop.id', 'stop', 'id', 'name', 'stop_id', 'location_id'];
const START_FIELDS = ['start_location', 'depot', 'start'];
const END_FIELDS = ['end_location', 'depot', 'end'];
const LOCATION_FIELDS = ['location', 'position', 'coordinates', 'stop.location', 'point'];
const LONGITUDES = ['lon', 'lng', 'longitude'];
const LATITUDES = ['lat', 'latitude'];

/** A place on the earth in degrees, or on a plane in any unit. */
interface Place {
  at: Position;
  isPlane: boolean;
}

/** A stop of a route, or a place of a list. */
export interface Stop {
  name: string;
  /** Identifies the stop among those of another plan. */
  key: string | undefined;
  place: Place | undefined;
  facts: Fact[];
}

export interface Route {
  name: string;
  stops: Stop[];
  start: Place | undefined;
  end: Place | undefined;
  facts: Fact[];
}

/** Names that an app uses for the fields of its routes, in place of the usual ones. */
export type FieldNames = Readonly<Record<string, string>>;

function chooseNames(fields: FieldNames, name: string, usual: readonly string[]): readonly string[] {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return own === undefined ? usual : [own];
}

/** Returns the routes that have stops with coordinates; none when no stop has any. */
export function readRoutes(items: readonly DataItem[], fields: FieldNames = {}): Route[] {
  let count = 0;
  const routes = items.slice(0, ROUTES_MAX).flatMap(({ value }, index): Route[] => {
    const stops = readField(value, chooseNames(fields, 'stops', STOPS_FIELDS));
    if (!Array.isArray(stops)) return [];
    const listed: readonly unknown[] = stops.slice(0, Math.max(0, STOPS_MAX - count));
    count += listed.length;
    return [
      {
        name: toName(readField(value, chooseNames(fields, 'route', NAME_FIELDS))) ?? `Route ${index + 1}`,
        stops: listed.map((stop, at) => readStop(stop, at, fields)),
        start: readPlace(readField(value, chooseNames(fields, 'start', START_FIELDS))),
        end: readPlace(readField(value, chooseNames(fields, 'end', END_FIELDS))),
        facts: listFacts(value, chooseNames(fields, 'route', NAME_FIELDS)),
      },
    ];
  });
  return routes.some(({ stops }) => stops.some(({ place }) => place)) ? routes : [];
}

/** Returns the objects that have coordinates. */
export function readPlaces(items: readonly DataItem[], fields: FieldNames = {}): Stop[] {
  return items
    .slice(0, STOPS_MAX)
    .map(({ value }, index) => readStop(value, index, fields))
    .filter(({ place }) => place !== undefined);
}

function readStop(value: unknown, index: number, fields: FieldNames): Stop {
  const names = chooseNames(fields, 'stop', STOP_NAME_FIELDS);
  const location = readField(value, chooseNames(fields, 'location', LOCATION_FIELDS));
  const readName = (from: readonly string[]) =>
    from.map((name) => toName(readField(value, [name]))).find(Boolean);
  return {
    name: readName(names) ?? String(index + 1),
    key: readName(chooseNames(fields, 'key', KEY_FIELDS)),
    place: readPlace(location) ?? readPlace(value),
    facts: isRecord(value) ? listFacts(value, [...names, ...LONGITUDES, ...LATITUDES]) : [],
  };
}

/** Returns the place of `{lon, lat}`, `[lon, lat]`, a GeoJSON point, or `{x, y}`; undefined for anything else. */
function readPlace(value: unknown): Place | undefined {
  const pair = Array.isArray(value) ? value : readField(value, ['coordinates']);
  const coordinates = Array.isArray(pair)
    ? pair
    : [readField(value, LONGITUDES), readField(value, LATITUDES)];
  const position = readPosition(coordinates);
  if (position) return { at: position, isPlane: false };
  const [x, y] = [readField(value, ['x']), readField(value, ['y'])];
  return typeof x === 'number' && typeof y === 'number' ? { at: [x, y], isPlane: true } : undefined;
}

/** Returns a line for each route, and a point for each stop with its order; starts and ends have no group. */
export function drawRoutes(routes: readonly Route[]): MapData {
  const project = createProjection(
    routes.flatMap(({ start, end, stops }) => [start, end, ...stops.map(({ place }) => place)]),
  );
  const data: MapData = { shapes: [], dropped: 0 };
  const depots = new Map<string, MapShape>();
  for (const { name, stops, start, end } of routes) {
    const positions = [start, ...stops.map(({ place }) => place), end].flatMap(project);
    if (positions.length > 1)
      data.shapes.push({
        geometry: { type: 'LineString', coordinates: positions },
        properties: { route: name },
        group: name,
      });
    for (const [index, stop] of stops.entries()) addStop(data, stop, { name, order: index + 1, project });
    for (const position of [start, end].flatMap(project))
      depots.set(position.join(), {
        geometry: { type: 'Point', coordinates: position },
        properties: {},
        group: '',
      });
  }
  data.shapes.push(...depots.values());
  return data;
}

/** Returns a point for each place. */
export function drawPlaces(places: readonly Stop[]): MapData {
  const project = createProjection(places.map(({ place }) => place));
  return {
    dropped: 0,
    shapes: places.flatMap(({ name, place, facts }) =>
      project(place).map((coordinates) => ({
        geometry: { type: 'Point', coordinates },
        properties: Object.fromEntries([['name', name], ...facts]),
        group: '',
      })),
    ),
  };
}

type Projection = (place: Place | undefined) => Position[];

function addStop(
  data: MapData,
  { name, place, facts }: Stop,
  route: { name: string; order: number; project: Projection },
): void {
  const [coordinates] = route.project(place);
  if (!coordinates) data.dropped += 1;
  else
    data.shapes.push({
      geometry: { type: 'Point', coordinates },
      properties: Object.fromEntries([['stop', name], ['route', route.name], ...facts]),
      group: route.name,
      label: String(route.order),
    });
}

/** Returns the function that gives the position of a place on the map. If any place is of a plane, the others are dropped. */
function createProjection(places: readonly (Place | undefined)[]): Projection {
  const plane = places.flatMap((place) => (place?.isPlane ? [place.at] : []));
  if (plane.length === 0) return (place) => (place ? [place.at] : []);
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of plane) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
  }
  const scale = PLANE_DEGREES / (Math.max(right - left, top - bottom) || 1);
  return (place) =>
    place?.isPlane
      ? [[(place.at[0] - (left + right) / 2) * scale, (place.at[1] - (bottom + top) / 2) * scale]]
      : [];
}

/** Returns a name of the data as text that cannot reorder or hide what stands beside it. */
export function formatName(name: string): string {
  return escapeInvisible(name);
}
