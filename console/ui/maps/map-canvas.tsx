import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import {
  type MapView,
  moveMap,
  placeMap,
  pressMapKey,
  type Size,
  WHOLE_MAP,
  ZOOM_STEP,
  zoomMap,
} from './map-view.ts';
import { drawPath, findShape, type PlacedShape, type PlacedShapes, placeShapes } from './project-shapes.ts';
import type { MapShape } from './read-geojson.ts';
import styles from './shape-map.module.css';

/** A press this near to a shape means it. */
const PRESS_RADIUS_PX = 8;
/** A pointer that moves less is a press. */
const DRAG_PX = 4;
/** More labels than this cover each other, so only those of the highlighted group are drawn. */
const LABELS_MAX = 80;

export interface MapCanvasProps {
  shapes: readonly MapShape[];
  /** The colour of each group, as CSS. */
  colours: ReadonlyMap<string, string>;
  /** The group that is not dimmed; undefined for all. */
  highlighted?: string | undefined;
  /** Gets the index of the pressed shape. */
  onSelect: (index: number | undefined) => void;
}

/**
 * The drawing of a map, without legend. The ground is plain: no tiles of a server, so the browser asks nobody for anything. The
 * arrow keys move it, + and − zoom, and 0 shows all of it.
 */
export function MapCanvas({ shapes, colours, highlighted, onSelect }: MapCanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const size = useSize(host);
  const box = useMemo(() => placeShapes(shapes), [shapes]);
  // Other shapes are shown as a whole again.
  const [chosen, setChosen] = useState({ shapes, view: WHOLE_MAP });
  const view = chosen.shapes === shapes ? chosen.view : WHOLE_MAP;
  const setView = (next: MapView) => setChosen({ shapes, view: next });
  useWheel(host, (factor, around) => setView(zoomMap(box, size, view, { factor, around })));
  const { scale, left, top } = placeMap(box, size, view);
  const pressKey = (event: KeyboardEvent) => {
    const next =
      event.ctrlKey || event.metaKey || event.altKey ? undefined : pressMapKey(box, size, view, event.key);
    if (!next) return;
    setView(next);
    event.preventDefault();
  };
  const press: Press = (x, y) =>
    onSelect(findShape(box.shapes, [(x - left) / scale, (y - top) / scale], PRESS_RADIUS_PX / scale));
  const pointer = useDrag(press, view, (from, by) => setView(moveMap(box, size, from, by)));
  return (
    <div
      ref={host}
      role="application"
      aria-label="Map. Arrow keys move it, plus and minus zoom, 0 shows all."
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move the map.
      tabIndex={0}
      className={styles.map}
      onKeyDown={pressKey}
    >
      {size.width > 0 && (
        <svg role="img" aria-label="Map" width={size.width} height={size.height} {...pointer}>
          <Groups {...{ shapes, box, colours, highlighted }} placement={{ scale, left, top }} />
        </svg>
      )}
      <div className={styles.zoom}>
        <Button aria-label="Zoom in" onPress={() => setView(zoomMap(box, size, view, { factor: ZOOM_STEP }))}>
          +
        </Button>
        <Button
          aria-label="Zoom out"
          onPress={() => setView(zoomMap(box, size, view, { factor: 1 / ZOOM_STEP }))}
        >
          −
        </Button>
      </div>
    </div>
  );
}

interface GroupsProps extends Omit<MapCanvasProps, 'onSelect'> {
  box: PlacedShapes;
  placement: ReturnType<typeof placeMap>;
}

/** The shapes of a group, as one path for each kind, so that thousands of them are few elements. */
interface Drawn {
  group: string;
  areas: string;
  lines: string;
  points: string;
  labelled: string;
}

/** Areas, lines, points and labels of all groups. Lines and points keep their width at every zoom. */
function Groups({ shapes, box, colours, highlighted, placement: { scale, left, top } }: GroupsProps) {
  const isLabelled = useMemo(() => {
    const hasMany = shapes.filter(({ label }) => label !== undefined).length > LABELS_MAX;
    return ({ label, group }: MapShape) => label !== undefined && (!hasMany || group === highlighted);
  }, [shapes, highlighted]);
  const drawn = useMemo(() => drawGroups(shapes, box, isLabelled), [shapes, box, isLabelled]);
  const style = (group: string) => ({
    color: colours.get(group) ?? 'var(--ink)',
    opacity: highlighted === undefined || highlighted === group ? undefined : 'var(--dimmed)',
  });
  return (
    <>
      <g transform={`translate(${left} ${top}) scale(${scale})`}>
        {(['areas', 'lines', 'points', 'labelled'] as const).flatMap((kind) =>
          drawn
            .filter((one) => one[kind] !== '')
            .map((one) => (
              <g key={kind + one.group} className={styles[kind]} style={style(one.group)}>
                {(kind === 'points' || kind === 'labelled') && <path d={one[kind]} className={styles.edge} />}
                <path d={one[kind]} />
              </g>
            )),
        )}
      </g>
      {shapes.map((shape, index) => {
        const [x, y] = box.shapes[index]?.lines[0]?.[0] ?? [0, 0];
        if (!isLabelled(shape)) return null;
        return (
          <text key={index} className={styles.label} x={left + x * scale} y={top + y * scale}>
            {shape.label}
          </text>
        );
      })}
    </>
  );
}

function drawGroups(
  shapes: readonly MapShape[],
  box: PlacedShapes,
  isLabelled: (shape: MapShape) => boolean,
): Drawn[] {
  const byGroup = Map.groupBy(
    shapes.map((shape, index) => ({ shape, placed: box.shapes[index] })),
    ({ shape }) => shape.group,
  );
  return [...byGroup].map(([group, all]) => {
    const draw = (isWanted: (shape: MapShape) => boolean) =>
      drawPath(
        all.flatMap(({ shape, placed }): PlacedShape[] => (placed && isWanted(shape) ? [placed] : [])),
      );
    return {
      group,
      areas: draw(({ geometry }) => geometry.type === 'Polygon'),
      lines: draw(({ geometry }) => geometry.type !== 'Point'),
      points: draw((shape) => shape.geometry.type === 'Point' && !isLabelled(shape)),
      labelled: draw((shape) => shape.geometry.type === 'Point' && isLabelled(shape)),
    };
  });
}

type Press = (x: number, y: number) => void;

/** Returns listeners of a pointer that drags the view, or presses a point of the element. */
function useDrag(
  onPress: Press,
  view: MapView,
  onDrag: (from: MapView, by: readonly [number, number]) => void,
) {
  const drag = useRef<{ x: number; y: number; view: MapView; isMoved: boolean }>(undefined);
  return {
    onPointerDown({ button, clientX: x, clientY: y }: PointerEvent) {
      if (button === 0) drag.current = { x, y, view, isMoved: false };
    },
    onPointerMove({ clientX, clientY }: PointerEvent) {
      const from = drag.current;
      if (!from) return;
      const by = [clientX - from.x, clientY - from.y] as const;
      from.isMoved ||= Math.hypot(...by) > DRAG_PX;
      if (from.isMoved) onDrag(from.view, by);
    },
    onPointerUp({ clientX, clientY, currentTarget }: PointerEvent) {
      const { x, y } = currentTarget.getBoundingClientRect();
      if (drag.current?.isMoved === false) onPress(clientX - x, clientY - y);
      drag.current = undefined;
    },
    onPointerLeave() {
      drag.current = undefined;
    },
  };
}

/** Returns the size of the element in pixels, 0 before the first layout. */
function useSize(element: { current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setSize(entry.contentRect));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

/** Calls back when the wheel turns with the control key, or two fingers spread: the wheel alone scrolls the page. */
function useWheel(
  element: { current: HTMLElement | null },
  onZoom: (factor: number, around: readonly [number, number]) => void,
): void {
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  useEffect(() => {
    const host = element.current;
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey || !host) return;
      event.preventDefault();
      const { x, y } = host.getBoundingClientRect();
      zoom.current(Math.exp(-event.deltaY / 200), [event.clientX - x, event.clientY - y]);
    };
    // React's own listener is passive and could not keep the browser from zooming the page.
    host?.addEventListener('wheel', turn, { passive: false });
    return () => host?.removeEventListener('wheel', turn);
  }, [element]);
}
