/** Reads GeoJSON of an app into the three shapes that a map draws, and drops what has no place on the earth. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

const SHAPES_MAX = 50_000;
const LONGITUDE_MAX = 180;
/** A web map ends here (Web Mercator). */
const LATITUDE_MAX = 85.05;

export type Position = [longitude: number, latitude: number];

type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'LineString'; coordinates: Position[] }
  | { type: 'Polygon'; coordinates: Position[][] };

/** A shape with the facts that a press shows. */
export interface MapShape {
  geometry: Geometry;
  properties: Readonly<Record<string, unknown>>;
  /** Name of its group, such as the route; shapes of one group have one colour. */
  group: string;
  /** Short text on a point, such as its order on a route. */
  label?: string;
}

/** Shapes, and the number of those that were dropped. */
export interface MapData {
  shapes: MapShape[];
  dropped: number;
}

/** Properties that name the group of a shape, the first that is there. */
const GROUP_NAMES = ['route', 'vehicle', 'group'];

/** Returns the shapes of a GeoJSON object, or of a list of them. */
export function readGeoJson(value: unknown): MapData {
  const data: MapData = { shapes: [], dropped: 0 };
  const items = Array.isArray(value) ? value : [value];
  for (const item of items) {
    const features = isRecord(item) && Array.isArray(item.features) ? item.features : [item];
    for (const feature of features) addFeature(data, feature);
  }
  return data;
}

function addFeature(data: MapData, feature: unknown): void {
  if (!isRecord(feature)) return;
  const properties = isRecord(feature.properties) ? feature.properties : {};
  const group = GROUP_NAMES.find((name) => Object.hasOwn(properties, name));
  const geometries = readGeometries(isRecord(feature.geometry) ? feature.geometry : feature);
  if (geometries.length === 0 || data.shapes.length >= SHAPES_MAX) data.dropped += 1;
  else
    for (const geometry of geometries)
      data.shapes.push({ geometry, properties, group: group ? String(properties[group]) : '' });
}

/** Returns a position, or undefined for what is none: NaN, text, or beyond the map. */
export function readPosition(value: unknown): Position | undefined {
  if (!Array.isArray(value)) return undefined;
  const [longitude, latitude]: unknown[] = value;
  if (typeof longitude !== 'number' || typeof latitude !== 'number') return undefined;
  const isOnMap = Math.abs(longitude) <= LONGITUDE_MAX && Math.abs(latitude) <= LATITUDE_MAX;
  return isOnMap ? [longitude, latitude] : undefined;
}

function readLine(value: unknown): Position[] {
  return Array.isArray(value) ? value.map(readPosition).filter((one) => one !== undefined) : [];
}

function readGeometries({ type, coordinates }: Record<string, unknown>): Geometry[] {
  const parts = Array.isArray(coordinates) ? coordinates : [];
  switch (type) {
    case 'Point':
      return toPoints([coordinates]);
    case 'MultiPoint':
      return toPoints(parts);
    case 'LineString':
      return toLines([coordinates]);
    case 'MultiLineString':
      return toLines(parts);
    case 'Polygon':
      return toPolygons([parts]);
    case 'MultiPolygon':
      return toPolygons(parts);
    default:
      return [];
  }
}

function toPoints(values: readonly unknown[]): Geometry[] {
  return values
    .map(readPosition)
    .filter((one) => one !== undefined)
    .map((one) => ({ type: 'Point', coordinates: one }));
}

function toLines(values: readonly unknown[]): Geometry[] {
  return values
    .map(readLine)
    .filter((line) => line.length > 1)
    .map((line) => ({ type: 'LineString', coordinates: line }));
}

function toPolygons(values: readonly unknown[]): Geometry[] {
  return values.flatMap((rings) => {
    const read = Array.isArray(rings) ? rings.map(readLine).filter((line) => line.length > 3) : [];
    return read.length > 0 ? [{ type: 'Polygon', coordinates: read }] : [];
  });
}
