import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { useWidth } from '../charts/use-width.ts';
import { formatCell } from '../content/json-text.ts';
import { FactList } from '../facts.tsx';
import { fitText } from '../figures/fit-text.ts';
import { assignColours } from '../maps/group-colours.ts';
import { formatFact } from './format-fact.ts';
import styles from './gantt-chart.module.css';
import { formatSpan, type Lane, layoutLanes, listTicks, type PlacedBar } from './layout-lanes.ts';
import { formatName } from './read-routes.ts';
import type { Schedule } from './read-schedule.ts';

/** A phone scrolls the chart. */
const WIDTH_MIN_PX = 640;
const ROW_PX = 36;
const LANE_GAP_PX = 12;
/** The edge of a bar, in the full colour of its group. */
const EDGE_BAR_PX = 4;
const AXIS_PX = 28;
const TICK_PX = 96;
/** A mark so near to the right edge has no space for its text. */
const EDGE_PX = 44;
/** The last bar does not touch the edge. */
const RIGHT_PX = 8;
const BAR_MIN_PX = 3;
/** A narrower bar has a label only if all of it fits: the first letter says nothing. */
const LABELLED_PX = 60;
/** Before and behind the text. */
const LABEL_MARGIN_PX = 16;
const ZOOM_STEP = 1.5;
const ZOOM_MAX = 200;
const LEGEND_MAX = 12;

interface LaneBox extends Lane {
  top: number;
  height: number;
}

/** Assignments as bars over time, one lane for each resource. The arrow keys move between bars, and + and − zoom. */
export function GanttChart({ schedule, label }: { schedule: Schedule; label: string }) {
  const { bars, dropped, hasClock, zone } = schedule;
  const frame = useRef<HTMLDivElement>(null);
  const frameWidth = useWidth(frame);
  const [zoom, setZoom] = useState(1);
  const [selected, setSelected] = useState<number>();
  const lanes = useMemo(() => stackLanes(layoutLanes(bars)), [bars]);
  const colours = useMemo(() => assignColours(bars.map(({ group }) => group)), [bars]);
  const width = Math.max(WIDTH_MIN_PX, frameWidth) * zoom;
  const scale = useMemo(() => createScale(schedule, width), [schedule, width]);
  const bar = selected === undefined ? undefined : bars[selected];
  useScrollTo(frame, bar && scale.toX((bar.start + bar.end) / 2));
  const change = (factor: number) => setZoom((one) => Math.min(ZOOM_MAX, Math.max(1, one * factor)));
  const pressKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moveSelection(lanes, selected, event.key);
    if (event.key === '+' || event.key === '=') change(ZOOM_STEP);
    else if (event.key === '-') change(1 / ZOOM_STEP);
    else if (event.key === '0') setZoom(1);
    else if (next === undefined) return;
    else setSelected(next);
    event.preventDefault();
  };
  return (
    <figure className={styles.figure} aria-label={label}>
      <div className={styles.bar}>
        <Legend colours={colours} lanes={lanes} />
        <div className={styles.zoom}>
          {hasClock && <span className="meta">times {zone ? `in ${zone}` : 'without a zone'}</span>}
          <Button aria-label="Zoom out" isDisabled={zoom === 1} onPress={() => change(1 / ZOOM_STEP)}>
            −
          </Button>
          <Button aria-label="Zoom in" isDisabled={zoom >= ZOOM_MAX} onPress={() => change(ZOOM_STEP)}>
            +
          </Button>
        </div>
      </div>
      <div className={styles.chart}>
        <LaneNames lanes={lanes} />
        <div ref={frame} className={styles.frame}>
          {frameWidth > 0 && (
            <Drawing
              {...{ lanes, colours, scale, width, hasClock, selected, label }}
              onSelect={setSelected}
              onKeyDown={pressKey}
            />
          )}
        </div>
      </div>
      <div aria-live="polite">
        {bar && (
          <FactList
            layout="columns"
            facts={[
              ['Time', formatSpan(bar, hasClock)],
              ...bar.facts.map(([name, value]) => [formatCell(name), formatFact(value)] as const),
            ]}
          />
        )}
      </div>
      {dropped > 0 && (
        <p className="soft">
          {dropped === 1 ? '1 assignment has' : `${dropped} assignments have`} no usable resource, start and
          end.
        </p>
      )}
    </figure>
  );
}

interface Scale {
  start: number;
  end: number;
  toX: (at: number) => number;
}

function createScale({ bars }: Schedule, width: number): Scale {
  let [start, end] = [Infinity, -Infinity];
  for (const bar of bars) {
    start = Math.min(start, bar.start);
    end = Math.max(end, bar.end);
  }
  const span = end - start || 1;
  return { start, end, toX: (at) => ((at - start) / span) * (width - RIGHT_PX) };
}

function stackLanes(lanes: readonly Lane[]): LaneBox[] {
  let top = AXIS_PX;
  return lanes.map((lane) => {
    const box = { ...lane, top, height: lane.rows * ROW_PX + LANE_GAP_PX };
    top += box.height;
    return box;
  });
}

/** Returns the index of the bar that an arrow key leads to: the next of its lane, or the nearest of the next lane. */
function moveSelection(
  lanes: readonly Lane[],
  selected: number | undefined,
  key: string,
): number | undefined {
  const laneStep = { ArrowUp: -1, ArrowDown: 1 }[key];
  const barStep = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (laneStep === undefined && barStep === undefined) return undefined;
  const laneAt = lanes.findIndex(({ bars }) => bars.some(({ index }) => index === selected));
  const lane = lanes[laneAt];
  if (!lane) return lanes[0]?.bars[0]?.index;
  const at = lane.bars.findIndex(({ index }) => index === selected);
  if (barStep !== undefined) return lane.bars[at + barStep]?.index ?? selected;
  const from = lane.bars[at]?.bar.start ?? 0;
  const nearest = lanes[laneAt + (laneStep ?? 0)]?.bars.toSorted(
    (one, other) => Math.abs(one.bar.start - from) - Math.abs(other.bar.start - from),
  )[0];
  return nearest?.index ?? selected;
}

function Legend({ colours, lanes }: { colours: ReadonlyMap<string, string>; lanes: readonly Lane[] }) {
  // Without groups each lane has a colour, and its name stands beside it.
  if ([...colours.keys()].every((group) => lanes.some(({ resource }) => resource === group))) return <span />;
  return (
    <ul className={styles.legend} aria-label="Legend">
      {[...colours].slice(0, LEGEND_MAX).map(([group, colour]) => (
        <li key={group}>
          <span className={styles.swatch} style={{ background: colour }} />
          <bdi>{formatName(group)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function LaneNames({ lanes }: { lanes: readonly LaneBox[] }) {
  return (
    <div className={styles.names} style={{ paddingTop: AXIS_PX }} aria-hidden="true">
      {lanes.map(({ resource, height }) => (
        <div key={resource} style={{ height }} title={formatName(resource)}>
          <bdi>{formatName(resource)}</bdi>
        </div>
      ))}
    </div>
  );
}

interface DrawingProps {
  lanes: readonly LaneBox[];
  colours: ReadonlyMap<string, string>;
  scale: Scale;
  width: number;
  hasClock: boolean;
  selected: number | undefined;
  label: string;
  onSelect: (index: number) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function Drawing({ lanes, scale, width, hasClock, selected, label, ...rest }: DrawingProps) {
  const id = useId();
  const last = lanes.at(-1);
  const height = last ? last.top + last.height : AXIS_PX;
  const ticks = listTicks(scale.start, scale.end, {
    hasClock,
    ticksMax: Math.max(2, Math.floor(width / TICK_PX)),
  });
  return (
    <div
      role="listbox"
      aria-label={`${label}: Gantt chart`}
      aria-activedescendant={selected === undefined ? undefined : `${id}-${selected}`}
      tabIndex={0}
      className={styles.drawing}
      style={{ width }}
      onKeyDown={rest.onKeyDown}
    >
      <svg role="presentation" width={width} height={height}>
        <g className={styles.axis}>
          {ticks.map(({ at, text }) => (
            <g key={at}>
              <line x1={scale.toX(at)} x2={scale.toX(at)} y1={AXIS_PX - 6} y2={height} />
              {scale.toX(at) < width - EDGE_PX && (
                <text x={scale.toX(at) + 4} y={AXIS_PX - 10}>
                  {text}
                </text>
              )}
            </g>
          ))}
          {lanes.map(({ resource, top }) => (
            <line key={resource} x1={0} x2={width} y1={top} y2={top} />
          ))}
        </g>
        {lanes.flatMap((lane) =>
          lane.bars.map((placed) => (
            <BarShape
              key={placed.index}
              id={`${id}-${placed.index}`}
              placed={placed}
              top={lane.top}
              scale={scale}
              hasClock={hasClock}
              colour={rest.colours.get(placed.bar.group) ?? 'var(--data-1)'}
              isSelected={placed.index === selected}
              onSelect={rest.onSelect}
            />
          )),
        )}
      </svg>
    </div>
  );
}

interface BarShapeProps {
  id: string;
  placed: PlacedBar;
  top: number;
  scale: Scale;
  hasClock: boolean;
  colour: string;
  isSelected: boolean;
  onSelect: (index: number) => void;
}

function BarShape({ id, placed, top, scale, hasClock, colour, isSelected, onSelect }: BarShapeProps) {
  const { bar, index, row } = placed;
  const x = scale.toX(bar.start);
  const width = Math.max(BAR_MIN_PX, scale.toX(bar.end) - x - 1);
  const y = top + LANE_GAP_PX / 2 + row * ROW_PX;
  const name = formatName(bar.label);
  const shown = fitText(name, width - LABEL_MARGIN_PX);
  return (
    <g id={id} role="option" aria-selected={isSelected} onClick={() => onSelect(index)}>
      <title>{`${formatName(bar.resource)}: ${name}, ${formatSpan(bar, hasClock)}`}</title>
      <g style={{ color: colour }} className={isSelected ? styles.selected : undefined}>
        <rect x={x} y={y} width={width} height={ROW_PX - 4} rx={4} className={styles.area} />
        <rect x={x} y={y} width={Math.min(width, EDGE_BAR_PX)} height={ROW_PX - 4} rx={2} />
      </g>
      {(shown === name || width >= LABELLED_PX) && (
        <text x={x + 12} y={y + ROW_PX / 2 + 2} className={styles.label}>
          {shown}
        </text>
      )}
    </g>
  );
}

/** Scrolls the selected bar into view, also after another zoom has moved it. */
function useScrollTo(frame: RefObject<HTMLElement | null>, x: number | undefined): void {
  useEffect(() => {
    const box = frame.current;
    if (!box || x === undefined) return;
    if (x < box.scrollLeft || x > box.scrollLeft + box.clientWidth) box.scrollLeft = x - box.clientWidth / 2;
  }, [frame, x]);
}
