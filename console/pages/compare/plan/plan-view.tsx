import { capitalise, formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatDuration,
  formatNumber,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { useMemo, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../../ui/data-table/data-table.tsx';
import { assignColours } from '../../../ui/maps/group-colours.ts';
import { MapCanvas } from '../../../ui/maps/map-canvas.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Segments } from '../../../ui/options/segments.tsx';
import { drawRoutes, formatName, type Route } from '../../../ui/solution/read-routes.ts';
import {
  comparePlans,
  type ItemPair,
  type PlanDifference,
  type PlanItem,
  type ViewPair,
} from './compare-plans.ts';
import { FlowPicture } from './flow-picture.tsx';
import styles from './plan.module.css';

const ROWS_FIRST = 12;
const MINUTE_MS = 60_000;
/** A map with more marks covers itself. */
const MARKS_MAX = 80;

/** The difference of two plans: a sentence, what moved where, a map of it, and tables of the items. */
export function PlanView({ pair }: { pair: ViewPair }) {
  const difference = useMemo(() => comparePlans(pair), [pair]);
  if (typeof difference === 'string') return <Notice kind="warning">{formatName(difference)}</Notice>;
  return <Difference pair={pair} difference={difference} />;
}

function Difference({ pair: { before, after }, difference }: { pair: ViewPair; difference: PlanDifference }) {
  const { words, lanes, moved, shifted, gone, added } = difference;
  const colours = useMemo(() => assignColours(lanes), [lanes]);
  const sentence = describeDifference(difference);
  const hasTimes = moved.some((one) => one.before.at !== undefined);
  const showLane = (name: string) => (
    <bdi>
      <span className={styles.swatch} style={{ background: colours.get(name) }} />
      {formatName(name)}
    </bdi>
  );
  const item = capitalise(words.item);
  const lane = capitalise(words.lane);
  const time = hasTimes ? 'Time' : 'Place';
  const name: Column<ItemPair> = { title: item, cell: ({ row }) => <bdi>{formatName(row.after.name)}</bdi> };
  const times: Column<ItemPair>[] = [
    {
      title: time,
      kind: 'number',
      cell: ({ row: { before: old, after: young } }) =>
        old.when === young.when ? old.when : `${old.when} → ${young.when}`,
    },
    ...(moved.concat(shifted).some(describeShift)
      ? [
          {
            title: 'Change',
            kind: 'number' as const,
            cell: ({ row }: { row: ItemPair }) => describeShift(row),
          },
        ]
      : []),
  ];
  const alone: Column<PlanItem>[] = [
    { title: item, cell: ({ row }) => <bdi>{formatName(row.name)}</bdi> },
    { title: lane, cell: ({ row }) => showLane(row.lane) },
    { title: time, kind: 'number', cell: ({ row }) => row.when },
  ];
  return (
    <div className={styles.plan}>
      <div>
        <p className={styles.sentence}>{sentence.main}</p>
        <p className="soft">{sentence.more}</p>
      </div>
      <div className={styles.pictures}>
        <section aria-label="What moved where">
          <h2>Which {words.item}s moved where</h2>
          <FlowPicture {...{ difference, colours }} label={sentence.main} />
          <p className={styles.says}>
            {describeMost(difference)} Grey stays; a band has the colour of its new {words.lane}.
          </p>
        </section>
        {before.kind === 'routes' && after.kind === 'routes' && (
          <MovedMap {...{ colours, moved }} plans={[before.routes, after.routes]} />
        )}
      </div>
      <ItemTable
        title={`Moved ${words.item}s`}
        rows={moved}
        columns={[
          name,
          { title: 'From', cell: ({ row }) => showLane(row.before.lane) },
          { title: 'To', cell: ({ row }) => showLane(row.after.lane) },
          ...times,
        ]}
      />
      <ItemTable
        title={`Same ${words.lane}, ${words.shifted}`}
        rows={shifted}
        columns={[name, { title: lane, cell: ({ row }) => showLane(row.after.lane) }, ...times]}
      />
      <ItemTable title="Only in A" rows={gone} columns={alone} />
      <ItemTable title="Only in B" rows={added} columns={alone} />
    </div>
  );
}

/** Returns the answer. Its parts add up to the items that both plans have. */
function describeDifference({ words, kept, shifted, moved, gone, added }: PlanDifference) {
  const all = formatCount(kept.length + shifted.length + moved.length, words.item);
  const only = (items: readonly PlanItem[], plan: string) =>
    items.length > 0 && `${formatCount(items.length, words.item)} only in ${plan}`;
  const parts = [
    `${moved.length} of ${all} ${words.moved}`,
    shifted.length > 0 && `${shifted.length} ${words.shifted}`,
    `${kept.length} stayed as ${kept.length === 1 ? 'it was' : 'they were'}.`,
  ];
  return {
    main: parts.filter(Boolean).join(', '),
    more:
      [only(added, 'B'), only(gone, 'A')].filter(Boolean).join(', ') ||
      `Both plans have the same ${words.item}s.`,
  };
}

/** Says which lane takes over most, and from where. */
function describeMost({ moved, words }: PlanDifference): string {
  const byLane = [...Map.groupBy(moved, ({ after }) => after.lane)].toSorted(
    (one, other) => other[1].length - one[1].length,
  );
  const [most] = byLane;
  if (!most) return `No ${words.item} moved.`;
  const sources = [...Map.groupBy(most[1], ({ before }) => before.lane)].map(
    ([from, { length }]) => `${length} from ${formatName(from)}`,
  );
  return `${formatName(most[0])} takes over most, ${formatCount(most[1].length, words.item)}: ${sources.join(', ')}.`;
}

/** Returns how much later an item is; its change of place for one without times. */
function describeShift({ before, after }: ItemPair): string {
  if (before.at === undefined || after.at === undefined || before.when === after.when) return '';
  const shift = after.at - before.at;
  if (!after.when.includes(':')) return formatSigned(shift, formatValue);
  const rounded = Math.round(shift / MINUTE_MS) * MINUTE_MS;
  return rounded === 0 ? '' : formatSigned(rounded, formatDuration);
}

interface MovedMapProps {
  plans: readonly [readonly Route[], readonly Route[]];
  colours: ReadonlyMap<string, string>;
  moved: readonly ItemPair[];
}

/** The routes of one plan on a map. The stops that moved are large, with their order on the route. */
function MovedMap({ plans, colours, moved }: MovedMapProps) {
  const [side, setSide] = useState<0 | 1>(1);
  const [pressed, setPressed] = useState<ItemPair>();
  const find = useMemo(
    () =>
      new Map(
        moved.map((pair) => {
          const { lane, place } = side === 0 ? pair.before : pair.after;
          return [`${lane}\n${place}`, pair];
        }),
      ),
    [moved, side],
  );
  const shapes = useMemo(
    () =>
      drawRoutes(plans[side]).shapes.map(({ label, ...shape }) => ({
        ...shape,
        ...(label !== undefined && find.has(`${shape.group}\n${label}`) && { label }),
      })),
    [plans, side, find],
  );
  return (
    <section aria-label="Map of the moved stops">
      <div className={styles.head}>
        <h2>Map of {side === 0 ? 'A' : 'B'}</h2>
        <Segments
          label="Plan on the map"
          options={[
            [0, 'A'],
            [1, 'B'],
          ]}
          chosen={side}
          onChoose={setSide}
        />
      </div>
      <MapCanvas
        shapes={shapes}
        colours={colours}
        onSelect={(index) => {
          const shape = index === undefined ? undefined : shapes[index];
          setPressed(find.get(`${shape?.group}\n${shape?.label}`));
        }}
      />
      <p className={styles.says} aria-live="polite">
        {pressed
          ? `${formatName(pressed.after.name)}: ${formatName(pressed.before.lane)} ${pressed.before.when} → ${formatName(pressed.after.lane)} ${pressed.after.when}`
          : moved.length > MARKS_MAX
            ? 'More stops are on another route than the map can mark.'
            : 'Large circles are the stops on another route, with their place on it. A press on one shows both plans.'}
      </p>
    </section>
  );
}

type Column<Row> = DataColumn<{ row: Row }>;

interface ItemTableProps<Row> {
  title: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
}

/** A table of items with a heading and their number; nothing without items. */
function ItemTable<Row>({ title, rows, columns }: ItemTableProps<Row>) {
  const [limit, setLimit] = useState(ROWS_FIRST);
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} <span className="meta">{formatNumber(rows.length)}</span>
      </h2>
      <DataTable
        label={title}
        rows={rows.slice(0, limit).map((row, index) => ({ id: index, row }))}
        columns={columns}
      />
      {rows.length > limit && (
        <Button kind="quiet" onPress={() => setLimit(rows.length)}>
          {formatNumber(rows.length - limit)} more
        </Button>
      )}
    </section>
  );
}
