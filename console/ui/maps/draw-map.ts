/**
 * Draws shapes with MapLibre on a plain ground: no tiles and no fonts of a server, so the browser asks nobody for anything.
 * The worker comes from the files of the console, because the security policy allows no other.
 */
import {
  type ExpressionSpecification,
  LngLatBounds,
  Map as MapView,
  NavigationControl,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import type { MapShape } from './read-geojson.ts';

const PADDING_PX = 40;
const ZOOM_MAX = 15;
/** A press this near to a shape means it. */
const PRESS_RADIUS_PX = 6;
const SHAPE_LAYERS = ['points', 'lines', 'areas'];
/** Opacity of the groups that are not highlighted. */
const DIMMED_OPACITY = 0.15;
/** More labels than this cover each other, so only those of the highlighted group are drawn. */
const LABELS_MAX = 80;
const POINT_RADIUS_PX = 5;
const LABELLED_RADIUS_PX = 9;

/** The part of the earth that a map shows. */
export interface Camera {
  center: [number, number];
  zoom: number;
}

/** The colours of a map, as numbers. */
interface MapColours {
  groups: ReadonlyMap<string, string>;
  ground: string;
  ink: string;
}

export interface MapParts {
  shapes: readonly MapShape[];
  colours: MapColours;
  /** The part that is visible first; without it, all shapes. */
  camera: Camera | undefined;
  /** Gets the index of the pressed shape. */
  onSelect: (index: number | undefined) => void;
}

/** A drawn map. */
export interface DrawnMap {
  /** Dims all groups but one; undefined dims none. */
  highlight(group: string | undefined): void;
  /** Removes the map, and returns the part that it showed last. */
  close(): Camera;
}

setWorkerUrl(workerUrl);

/** Draws the map in `host`. Throws when the browser has no WebGL. */
export function drawMap(host: HTMLElement, { shapes, colours, camera, onSelect }: MapParts): DrawnMap {
  const hasManyLabels = shapes.filter(({ label }) => label !== undefined).length > LABELS_MAX;
  const map = new MapView({
    container: host,
    attributionControl: false,
    ...(camera ?? {
      bounds: findBounds(shapes),
      fitBoundsOptions: { padding: PADDING_PX, maxZoom: ZOOM_MAX },
    }),
    style: buildStyle(shapes, colours, hasManyLabels),
  });
  map.addControl(new NavigationControl({ showCompass: false }), 'top-right');
  map.on('click', ({ point: { x, y } }) => {
    const [pressed] = map.queryRenderedFeatures(
      [
        [x - PRESS_RADIUS_PX, y - PRESS_RADIUS_PX],
        [x + PRESS_RADIUS_PX, y + PRESS_RADIUS_PX],
      ],
      { layers: SHAPE_LAYERS },
    );
    onSelect(pressed === undefined ? undefined : Number(pressed.properties.index));
  });
  return {
    highlight: (group) => highlightGroup(map, group, hasManyLabels),
    close() {
      const { lng, lat } = map.getCenter();
      const last: Camera = { center: [lng, lat], zoom: map.getZoom() };
      map.remove();
      return last;
    },
  };
}

function highlightGroup(map: MapView, group: string | undefined, hasManyLabels: boolean): void {
  const apply = () => {
    if (hasManyLabels) {
      const isLabelled = isOfGroup(group);
      map.setFilter('labels', ['all', IS_POINT, isLabelled]);
      map.setPaintProperty('points', 'circle-radius', chooseRadius(isLabelled));
    }
    const opacity: ExpressionSpecification | number =
      group === undefined ? 1 : ['case', ['==', ['get', 'group'], group], 1, DIMMED_OPACITY];
    map.setPaintProperty('lines', 'line-opacity', opacity);
    map.setPaintProperty('points', 'circle-opacity', opacity);
    map.setPaintProperty('points', 'circle-stroke-opacity', opacity);
    map.setPaintProperty('labels', 'text-opacity', opacity);
  };
  if (map.isStyleLoaded()) apply();
  else map.once('load', apply);
}

function findBounds(shapes: readonly MapShape[]): LngLatBounds {
  const bounds = new LngLatBounds();
  for (const { geometry } of shapes) for (const one of listPositions(geometry)) bounds.extend(one);
  return bounds;
}

function listPositions(geometry: MapShape['geometry']): [number, number][] {
  if (geometry.type === 'Point') return [geometry.coordinates];
  return geometry.type === 'LineString' ? geometry.coordinates : geometry.coordinates.flat();
}

const COLOUR: ExpressionSpecification = ['get', 'colour'];
const IS_POINT: ExpressionSpecification = ['==', ['geometry-type'], 'Point'];
const HAS_LABEL: ExpressionSpecification = ['!=', ['get', 'label'], ''];

/** Points without a group, such as depots, belong to none. */
function isOfGroup(group = ''): ExpressionSpecification {
  return ['all', HAS_LABEL, ['==', ['get', 'group'], group]];
}

function chooseRadius(isLabelled: ExpressionSpecification): ExpressionSpecification {
  return ['case', isLabelled, LABELLED_RADIUS_PX, POINT_RADIUS_PX];
}

function buildStyle(
  shapes: readonly MapShape[],
  { groups, ground, ink }: MapColours,
  hasManyLabels: boolean,
): StyleSpecification {
  const isLabelled = hasManyLabels ? isOfGroup() : HAS_LABEL;
  const features = shapes.map(({ geometry, group, label }, index) => ({
    type: 'Feature' as const,
    geometry,
    properties: { index, group, label: label ?? '', colour: groups.get(group) ?? ink },
  }));
  return {
    version: 8,
    sources: { shapes: { type: 'geojson', data: { type: 'FeatureCollection', features } } },
    layers: [
      { id: 'ground', type: 'background', paint: { 'background-color': ground } },
      {
        id: 'areas',
        type: 'fill',
        source: 'shapes',
        filter: ['==', ['geometry-type'], 'Polygon'],
        paint: { 'fill-color': COLOUR, 'fill-opacity': 0.25 },
      },
      {
        id: 'lines',
        type: 'line',
        source: 'shapes',
        filter: ['!', IS_POINT],
        layout: { 'line-join': 'round' },
        paint: { 'line-color': COLOUR, 'line-width': 2.5 },
      },
      {
        id: 'points',
        type: 'circle',
        source: 'shapes',
        filter: IS_POINT,
        paint: {
          'circle-color': COLOUR,
          'circle-radius': chooseRadius(isLabelled),
          'circle-stroke-width': 1.5,
          'circle-stroke-color': ground,
        },
      },
      {
        id: 'labels',
        type: 'symbol',
        source: 'shapes',
        filter: ['all', IS_POINT, isLabelled],
        // Without an address of fonts, MapLibre draws text with those of the system.
        layout: {
          'text-field': ['get', 'label'],
          'text-size': 11,
          'text-font': ['sans-serif'],
          'text-allow-overlap': true,
        },
        paint: { 'text-color': ground },
      },
    ],
  };
}
