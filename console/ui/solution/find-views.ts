/** Finds the views of an output or input: those that the app asks for, or else those that its data allow. */

import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { findTables, listColumns, type TableData } from '../content/find-tables.ts';
import { type MapData, readGeoJson } from '../maps/read-geojson.ts';
import { type DataItem, listItems } from './data-items.ts';
import { readHints, type ViewHint, type ViewSchema } from './read-hints.ts';
import { drawPlaces, type Route, readPlaces, readRoutes } from './read-routes.ts';
import { readSchedule, type Schedule } from './read-schedule.ts';

/** A view of an output or input, with its data. `key` is the field that the app says identifies an item. */
export type SolutionViewData =
  | { kind: 'routes'; label: string; key?: string | undefined; routes: Route[] }
  | { kind: 'map'; label: string; data: MapData }
  | { kind: 'gantt'; label: string; key?: string | undefined; schedule: Schedule }
  | { kind: 'table'; label: string; table: TableData };

/** The views, and why some that the app asks for are not shown. */
export interface SolutionViews {
  views: SolutionViewData[];
  problems: string[];
}

const LABELS: Record<ViewSchema, string> = {
  routes: 'Routes',
  places: 'Places',
  geojson: 'Map',
  gantt: 'Schedule',
  table: 'Table',
};

/** Returns the views of a JSON value. */
export function findViews(value: unknown): SolutionViews {
  const requested = readHints(value);
  if (requested === undefined) return { views: detectViews(value), problems: [] };
  const { problems } = requested;
  const views: SolutionViewData[] = [];
  for (const hint of requested.hints) {
    const items = listItems(value, hint.path);
    if (items === undefined) problems.push(`The output has nothing at \`${hint.path}\`. Correct the path.`);
    else if (items.length > 0) {
      const view = buildView(items, hint);
      if (view) views.push(view);
      else problems.push(`The data at \`${hint.path}\` ${EXPECTATIONS[hint.schema]}.`);
    }
  }
  return { views, problems };
}

const EXPECTATIONS: Record<ViewSchema, string> = {
  routes: 'have no list of stops with coordinates',
  places: 'have no coordinates',
  geojson: 'have no GeoJSON',
  gantt: 'have no resource, start and end',
  table: 'are no objects',
};

function buildView(items: readonly DataItem[], hint: ViewHint): SolutionViewData | undefined {
  const { fields } = hint;
  const label = hint.label || LABELS[hint.schema];
  switch (hint.schema) {
    case 'routes':
      return showRoutes(label, readRoutes(items, fields), fields.key);
    case 'places':
      return showMap(label, drawPlaces(readPlaces(items, fields)));
    case 'geojson':
      return showMap(label, readGeoJson(items.map(({ value }) => value)));
    case 'gantt':
      return showSchedule(label, readSchedule(items, fields), fields.key);
    case 'table': {
      const rows = items.map(({ value }) => value);
      return { kind: 'table', label, table: { path: hint.path, rows, columns: listColumns(rows) } };
    }
  }
}

function showRoutes(label: string, routes: Route[], key?: string): SolutionViewData | undefined {
  return routes.length > 0 ? { kind: 'routes', label, routes, key } : undefined;
}

function showMap(label: string, data: MapData): SolutionViewData | undefined {
  return data.shapes.length > 0 ? { kind: 'map', label, data } : undefined;
}

function showSchedule(label: string, schedule: Schedule, key?: string): SolutionViewData | undefined {
  return schedule.bars.length > 0 ? { kind: 'gantt', label, schedule, key } : undefined;
}

/** Parts of an output that describe the run and not its solution. */
const OTHER_PARTS = /^(?:statistics|metrics|assets|options|visualization)(?:\.|$)/;
/** Rows that decide whether a table has routes, places or a schedule. */
const SAMPLE_ROWS = 20;
/** Share of these rows that must have a start and an end. */
const SCHEDULED_SHARE = 0.5;

function detectViews(value: unknown): SolutionViewData[] {
  const tables = findTables(value).filter(({ path }) => !OTHER_PARTS.test(path));
  const sample = ({ rows }: TableData) => toItems(rows.slice(0, SAMPLE_ROWS));
  const routes = tables.find((one) => readRoutes(sample(one)).length > 0);
  const geojson = findGeoJson(value);
  const places = tables.find((one) => readPlaces(sample(one)).some(({ place }) => place?.isPlane === false));
  const schedule = tables.find((one) => {
    const items = sample(one);
    return readSchedule(items).bars.length > SCHEDULED_SHARE * items.length;
  });
  return [
    routes && showRoutes(LABELS.routes, readRoutes(toItems(routes.rows))),
    geojson === undefined ? undefined : showMap(LABELS.geojson, readGeoJson(geojson)),
    !routes && !geojson && places
      ? showMap(LABELS.places, drawPlaces(readPlaces(toItems(places.rows))))
      : undefined,
    schedule && showSchedule(LABELS.gantt, readSchedule(toItems(schedule.rows))),
  ].filter((view) => view !== undefined);
}

function toItems(rows: TableData['rows']): DataItem[] {
  return rows.map((value) => ({ value, parents: [] }));
}

const DEPTH_MAX = 4;

/** Returns the first GeoJSON collection that is not inside a list. */
function findGeoJson(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > DEPTH_MAX) return undefined;
  if (value.type === 'FeatureCollection' && Array.isArray(value.features)) return value;
  for (const [name, one] of Object.entries(value)) {
    const found = depth === 0 && OTHER_PARTS.test(name) ? undefined : findGeoJson(one, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
