/**
 * Places of the input and how far they are apart. A place is named in `locations` or written inline as coordinates;
 * equal inline coordinates are one place. Distances come from `distance_matrix` when given, else from the
 * coordinates: metres on the sphere for `lon`/`lat`, the straight line for `x`/`y`.
 */
import {
  InputError,
  type JsonObject,
  quoteValue,
  readArray,
  readNumber,
  readObject,
  readString,
  rejectValue,
} from './fields.ts';
import type { Coordinates } from './problem.ts';

const earthRadius = 6_371_008.8;

export class Places {
  readonly coordinates: Coordinates[] = [];
  private readonly byName = new Map<string, number>();
  private readonly byKey = new Map<string, number>();
  private inlinePath = '';

  /** Reads the `locations` array; their order is the order of the rows of the matrices. */
  readNamed(value: unknown): void {
    readArray(value, 'locations').forEach((entry, i) => {
      const path = `locations[${i}]`;
      const fields = readObject(entry, path, ['id', 'lon', 'lat', 'x', 'y']);
      const id = readString(fields.id, `${path}.id`);
      if (this.byName.has(id))
        throw new InputError(
          `${path}.id is ${quoteValue(id)}, which an earlier location has; ids must differ.`,
        );
      const { id: _, ...rest } = fields;
      this.byName.set(id, this.coordinates.length);
      this.coordinates.push(Object.keys(rest).length === 0 ? null : readCoordinates(rest, path));
    });
  }

  /** Reads where a stop or a vehicle is: the name of a location, or coordinates. Returns its index. */
  read(value: unknown, path: string): number {
    if (typeof value === 'string') {
      const index = this.byName.get(value);
      if (index === undefined) rejectValue(path, value, 'coordinates or the id of an entry of "locations"');
      return index;
    }
    const coordinates = readCoordinates(readObject(value, path, ['lon', 'lat', 'x', 'y']), path);
    const key = JSON.stringify(coordinates);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    this.inlinePath ||= path;
    this.byKey.set(key, this.coordinates.length);
    this.coordinates.push(coordinates);
    return this.coordinates.length - 1;
  }

  /** Reads one of the matrices of the input; rows and columns follow `locations`. */
  readMatrix(value: unknown, path: string): Float64Array | null {
    if (value === undefined) return null;
    const size = this.coordinates.length;
    if (this.inlinePath) {
      throw new InputError(
        `${this.inlinePath} holds coordinates, but with ${path} every location must be the id of an entry of "locations".`,
      );
    }
    const rows = readArray(value, path);
    if (rows.length !== size)
      throw new InputError(
        `${path} has ${rows.length} rows; it must have ${size}, one for each entry of "locations".`,
      );
    const matrix = new Float64Array(size * size);
    rows.forEach((entry, i) => {
      const row = readArray(entry, `${path}[${i}]`);
      if (row.length !== size)
        throw new InputError(
          `${path}[${i}] has ${row.length} entries; it must have ${size}, one for each entry of "locations".`,
        );
      row.forEach((cell, j) => {
        matrix[i * size + j] = readNumber(cell, `${path}[${i}][${j}]`, 0);
      });
    });
    return matrix;
  }

  /** Distances between all places from their coordinates. */
  measureDistances(): Float64Array {
    const size = this.coordinates.length;
    const matrix = new Float64Array(size * size);
    const first = this.coordinates[0];
    this.coordinates.forEach((place, i) => {
      if (!place || !first)
        throw new InputError(
          `locations[${first ? i : 0}] has no coordinates; without "distance_matrix" every location needs lon and lat, or x and y.`,
        );
      if (place.geographic !== first.geographic) {
        throw new InputError(
          'Some locations use lon and lat and others x and y; all must use the same, because distances between the two mean nothing.',
        );
      }
      for (let j = 0; j < i; j++) {
        const other = this.coordinates[j];
        if (!other) continue;
        const distance = place.geographic
          ? haversineDistance(place, other)
          : Math.hypot(place.x - other.x, place.y - other.y);
        matrix[i * size + j] = distance;
        matrix[j * size + i] = distance;
      }
    });
    return matrix;
  }
}

function readCoordinates(fields: JsonObject, path: string): NonNullable<Coordinates> {
  const geographic = 'lon' in fields || 'lat' in fields;
  if (geographic && ('x' in fields || 'y' in fields)) {
    throw new InputError(`${path} mixes lon or lat with x or y; give lon and lat, or x and y.`);
  }
  if (!geographic) {
    const x = readNumber(fields.x, `${path}.x`, -Infinity);
    return { x, y: readNumber(fields.y, `${path}.y`, -Infinity), geographic };
  }
  const lon = readNumber(fields.lon, `${path}.lon`, -Infinity);
  const lat = readNumber(fields.lat, `${path}.lat`, -Infinity);
  if (Math.abs(lon) > 180) rejectValue(`${path}.lon`, lon, 'from -180 to 180');
  if (Math.abs(lat) > 90) rejectValue(`${path}.lat`, lat, 'from -90 to 90');
  return { x: lon, y: lat, geographic };
}

/** Distance in metres along the surface of a sphere with the mean radius of the earth. */
function haversineDistance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  const radians = Math.PI / 180;
  const dLat = (b.y - a.y) * radians;
  const dLon = (b.x - a.x) * radians;
  const chord =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.y * radians) * Math.cos(b.y * radians) * Math.sin(dLon / 2) ** 2;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(chord)));
}
