/** The part of a map that a window shows: all of it at first, then what the pointer, the wheel or the keys chose. */
import type { PlacedShapes, Point } from './project-shapes.ts';

const PADDING_PX = 40;
const ZOOM_MAX = 500;
/** A key moves the map by this share of the window. */
const KEY_STEP = 0.2;
export const ZOOM_STEP = 1.5;

export interface Size {
  width: number;
  height: number;
}

/** What is chosen: how much larger than all of it, and the share of the box that stands in the middle of the window. */
export interface MapView {
  zoom: number;
  center: Point;
}

/** Pixels for each unit of the box, and the pixels of its corner. */
export interface Placement {
  scale: number;
  left: number;
  top: number;
}

export const WHOLE_MAP: MapView = { zoom: 1, center: [0.5, 0.5] };

/** Returns the scale at which all shapes are visible. */
function fit({ width, height }: PlacedShapes, window: Size): number {
  const share = (available: number, needed: number) =>
    needed === 0 ? 1 : Math.max(1, available - 2 * PADDING_PX) / needed;
  return Math.min(share(window.width, width), share(window.height, height));
}

/** Returns where the box stands in the window. */
export function placeMap(box: PlacedShapes, window: Size, { zoom, center }: MapView): Placement {
  const scale = fit(box, window) * zoom;
  return {
    scale,
    left: window.width / 2 - center[0] * box.width * scale,
    top: window.height / 2 - center[1] * box.height * scale,
  };
}

/** Moves the map by pixels. Its middle stays in the window's reach. */
export function moveMap(box: PlacedShapes, window: Size, view: MapView, [x, y]: Point): MapView {
  const { scale } = placeMap(box, window, view);
  const move = (share: number, by: number, length: number) =>
    length === 0 ? share : Math.min(1, Math.max(0, share - by / scale / length));
  return {
    ...view,
    center: [move(view.center[0], x, box.width), move(view.center[1], y, box.height)],
  };
}

/** Makes the map larger or smaller around a point of the window, by default its middle. */
export function zoomMap(
  box: PlacedShapes,
  window: Size,
  view: MapView,
  { factor, around }: { factor: number; around?: Point | undefined },
): MapView {
  const zoom = Math.min(ZOOM_MAX, Math.max(1, view.zoom * factor));
  if (zoom === 1) return WHOLE_MAP;
  const [x, y] = around ?? [window.width / 2, window.height / 2];
  const { scale, left, top } = placeMap(box, window, view);
  const next = placeMap(box, window, { ...view, zoom });
  const [boxX, boxY] = [(x - left) / scale, (y - top) / scale];
  return moveMap(box, window, { ...view, zoom }, [
    x - (next.left + boxX * next.scale),
    y - (next.top + boxY * next.scale),
  ]);
}

/** Returns what a key shows: the arrows move, + and − zoom, and 0 shows all; undefined for any other key. */
export function pressMapKey(
  box: PlacedShapes,
  window: Size,
  view: MapView,
  key: string,
): MapView | undefined {
  const [x, y] = [window.width * KEY_STEP, window.height * KEY_STEP];
  const moves: Readonly<Record<string, Point>> = {
    ArrowLeft: [x, 0],
    ArrowRight: [-x, 0],
    ArrowUp: [0, y],
    ArrowDown: [0, -y],
  };
  const by = moves[key];
  if (by) return moveMap(box, window, view, by);
  if (key === '+' || key === '=') return zoomMap(box, window, view, { factor: ZOOM_STEP });
  if (key === '-') return zoomMap(box, window, view, { factor: 1 / ZOOM_STEP });
  return key === '0' ? WHOLE_MAP : undefined;
}
