/**
 * Draws shapes with MapLibre on a plain ground: no tiles, so the browser asks nobody for anything. The worker comes from
 * the files of the console, because the security policy allows no other.
 */
import { LngLatBounds, Map as MapView, NavigationControl, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import type { MapShape } from './read-geojson.ts';

const PADDING_PX = 40;
const ZOOM_MAX = 15;
/** A press this near to a shape means it. */
const PRESS_RADIUS_PX = 6;
const SHAPE_LAYERS = ['points', 'lines', 'areas'];

export interface MapParts {
  shapes: readonly MapShape[];
  /** The colour of each group, as CSS. */
  colours: ReadonlyMap<string, string>;
  ground: string;
  /** Gets the index of the pressed shape. */
  onSelect: (index: number | undefined) => void;
}

setWorkerUrl(workerUrl);

/** Draws the map in `host` until the returned function is called. Throws when the browser has no WebGL. */
export function drawMap(host: HTMLElement, { shapes, colours, ground, onSelect }: MapParts): () => void {
  const bounds = new LngLatBounds();
  for (const { geometry } of shapes) for (const one of listPositions(geometry)) bounds.extend(one);
  const features = shapes.map(({ geometry, group }, index) => ({
    type: 'Feature' as const,
    geometry,
    properties: { index, colour: colours.get(group) ?? ground },
  }));
  const colour: ['get', string] = ['get', 'colour'];
  const map = new MapView({
    container: host,
    attributionControl: false,
    bounds,
    fitBoundsOptions: { padding: PADDING_PX, maxZoom: ZOOM_MAX },
    style: {
      version: 8,
      sources: { shapes: { type: 'geojson', data: { type: 'FeatureCollection', features } } },
      layers: [
        { id: 'ground', type: 'background', paint: { 'background-color': ground } },
        {
          id: 'areas',
          type: 'fill',
          source: 'shapes',
          filter: ['==', ['geometry-type'], 'Polygon'],
          paint: { 'fill-color': colour, 'fill-opacity': 0.25 },
        },
        {
          id: 'lines',
          type: 'line',
          source: 'shapes',
          filter: ['!=', ['geometry-type'], 'Point'],
          paint: { 'line-color': colour, 'line-width': 2.5 },
        },
        {
          id: 'points',
          type: 'circle',
          source: 'shapes',
          filter: ['==', ['geometry-type'], 'Point'],
          paint: {
            'circle-color': colour,
            'circle-radius': 5,
            'circle-stroke-width': 1.5,
            'circle-stroke-color': ground,
          },
        },
      ],
    },
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
  return () => map.remove();
}

function listPositions(geometry: MapShape['geometry']): [number, number][] {
  if (geometry.type === 'Point') return [geometry.coordinates];
  return geometry.type === 'LineString' ? geometry.coordinates : geometry.coordinates.flat();
}
