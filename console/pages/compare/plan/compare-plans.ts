/** Compares two plans item by item: which stops or tasks stayed, changed their place, moved, are new or gone. Pure. */
import type { SolutionViewData, SolutionViews } from '../../../ui/solution/find-views.ts';
import { parseClock } from '../../../ui/solution/format-fact.ts';
import { formatSpan } from '../../../ui/solution/layout-lanes.ts';

/** A stop or task of a plan. */
export interface PlanItem {
  key: string;
  name: string;
  /** Its route or resource. */
  lane: string;
  /** Its group. Items with one key that move are matched within a group first. */
  kind: string;
  /** Its order on the route from 1, or its times. */
  place: string;
  /** Its time, or its order for an item without a time, as people read it. */
  when: string;
  /** In milliseconds or the unit of the plan; undefined for an item without a time. */
  at: number | undefined;
}

/** An item in both plans. */
export interface ItemPair {
  before: PlanItem;
  after: PlanItem;
}

const WORDS = {
  routes: { item: 'stop', lane: 'route', moved: 'are on another route', shifted: 'changed their place' },
  gantt: { item: 'task', lane: 'resource', moved: 'have another resource', shifted: 'changed their time' },
};

export interface PlanDifference {
  words: (typeof WORDS)['routes'];
  /** All routes or resources: first those of the first plan, in its order. */
  lanes: string[];
  kept: ItemPair[];
  /** In the same lane, at another place or time. */
  shifted: ItemPair[];
  /** In another lane. */
  moved: ItemPair[];
  /** Only in the first plan. */
  gone: PlanItem[];
  /** Only in the second plan. */
  added: PlanItem[];
}

type PlanView = Extract<SolutionViewData, { kind: 'routes' | 'gantt' }>;

/** The views of two outputs that show the same kind of plan. */
export interface ViewPair {
  before: PlanView;
  after: PlanView;
}

/** Returns the first plan that both outputs show; undefined when they have none in common. */
export function pairViews(one: SolutionViews, other: SolutionViews): ViewPair | undefined {
  const isPlan = (view: SolutionViewData): view is PlanView =>
    view.kind === 'routes' || view.kind === 'gantt';
  for (const before of one.views.filter(isPlan)) {
    const same = other.views.filter(isPlan).filter(({ kind }) => kind === before.kind);
    const after = same.find(({ label }) => label === before.label) ?? same[0];
    if (after) return { before, after };
  }
  return undefined;
}

/** Returns the difference of two plans, or the sentence that says which key it needs. */
export function comparePlans({ before, after }: ViewPair): PlanDifference | string {
  const words = WORDS[before.kind];
  const [old, young] = [listItems(before), listItems(after)];
  const problem = findKeyProblem(before, old) ?? findKeyProblem(after, young);
  if (problem !== undefined) return problem;
  const difference: PlanDifference = {
    words,
    lanes: [...new Set([...listLanes(before), ...listLanes(after)])],
    ...{ kept: [], shifted: [], moved: [], gone: [], added: [] },
  };
  const rest = Map.groupBy(young, ({ key }) => key);
  const take = (item: PlanItem, isMatch: (one: PlanItem) => boolean): boolean => {
    const same = rest.get(item.key) ?? [];
    const found = same.findIndex(isMatch);
    const [match] = found < 0 ? [] : same.splice(found, 1);
    if (match) addPair(difference, { before: item, after: match });
    return match !== undefined;
  };
  // Several items may have one key, such as the places of a shift: first those that stayed find each other.
  let open = old;
  for (const isMatch of [
    (item: PlanItem) => (one: PlanItem) => one.lane === item.lane && one.place === item.place,
    (item: PlanItem) => (one: PlanItem) => one.lane === item.lane,
    (item: PlanItem) => (one: PlanItem) => one.kind === item.kind,
    () => () => true,
  ])
    open = open.filter((item) => !take(item, isMatch(item)));
  difference.gone = open;
  difference.added = [...rest.values()].flat();
  return difference;
}

function addPair(difference: PlanDifference, pair: ItemPair): void {
  const { before, after } = pair;
  if (before.lane !== after.lane) difference.moved.push(pair);
  else (before.place === after.place ? difference.kept : difference.shifted).push(pair);
}

function listLanes(view: PlanView): string[] {
  return view.kind === 'routes'
    ? view.routes.map(({ name }) => name)
    : view.schedule.bars.map(({ resource }) => resource);
}

const TIMES = ['arrival', 'arrival_time', 'start', 'start_time', 'time'];

function listItems(view: PlanView): PlanItem[] {
  if (view.kind === 'gantt')
    return view.schedule.bars.map((bar) => {
      const when = formatSpan(bar, view.schedule.hasClock);
      const { key = '', label: name, resource: lane, group, start: at } = bar;
      return { key, name, lane, kind: group === lane ? '' : group, place: when, when, at };
    });
  return view.routes.flatMap(({ name: lane, stops }) =>
    stops.map(({ key = '', name, facts }, index) => {
      const time = TIMES.map((field) => facts.find(([one]) => one === field)?.[1]).find(parseClock);
      const place = String(index + 1);
      const when = parseClock(time)?.clock ?? `#${place}`;
      return {
        key,
        name,
        lane,
        kind: '',
        place,
        when,
        at: time === undefined ? undefined : Date.parse(String(time)),
      };
    }),
  );
}

function findKeyProblem(view: PlanView, items: readonly PlanItem[]): string | undefined {
  const { item } = WORDS[view.kind];
  const advice = `Name the field that identifies a ${item} as \`key\` in \`fields\` of the view ${view.label}.`;
  if (items.some(({ key }) => key === ''))
    return view.key === undefined
      ? `A ${item} has neither id nor name. ${advice}`
      : `A ${item} has no field \`${view.key}\`. ${advice}`;
  const twice = [...Map.groupBy(items, ({ key }) => key).values()].find((same) => same.length > 1);
  // A declared key may name several equal items. Of a guessed one nobody knows.
  return view.key === undefined && twice
    ? `Several ${item}s are called ${twice[0]?.key}. ${advice}`
    : undefined;
}

/** A lane of the flow picture. Positions are in pixels. */
interface FlowNode {
  lane: string;
  top: number;
  height: number;
  count: number;
  /** Items that are only in this plan. */
  alone: number;
}

/** A band of items from a lane of the first plan to one of the second. */
interface FlowBand {
  from: string;
  to: string;
  count: number;
  height: number;
  /** The upper edge at both ends. */
  tops: [number, number];
}

export interface Flow {
  nodes: [FlowNode[], FlowNode[]];
  bands: FlowBand[];
  height: number;
}

const ITEMS_PX = 400;
const ITEM_MAX_PX = 6;
const LABEL_PX = 32;
const GAP_PX = 14;

/** Returns the picture of the items between the lanes of both plans. Each item has the same height. */
export function layoutFlow({ lanes, kept, shifted, moved, gone, added }: PlanDifference): Flow {
  const pairs = [...kept, ...shifted, ...moved];
  const unit = Math.min(
    ITEM_MAX_PX,
    ITEMS_PX / Math.max(1, pairs.length + Math.max(gone.length, added.length)),
  );
  const place = (counts: ReadonlyMap<string, number>, alone: ReadonlyMap<string, number>): FlowNode[] => {
    let top = 0;
    return lanes
      .filter((lane) => counts.has(lane))
      .map((lane) => {
        const count = counts.get(lane) ?? 0;
        const slot = Math.max(count * unit, LABEL_PX);
        const node = { lane, top: top + (slot - count * unit) / 2, height: count * unit, count };
        top += slot + GAP_PX;
        return { ...node, alone: alone.get(lane) ?? 0 };
      });
  };
  const old = pairs.map(({ before }) => before);
  const young = pairs.map(({ after }) => after);
  const nodes: Flow['nodes'] = [
    place(countLanes([...old, ...gone]), countLanes(gone)),
    place(countLanes([...young, ...added]), countLanes(added)),
  ];
  const [left, right] = nodes.map((side) => new Map(side.map(({ lane, top }) => [lane, top])));
  const bands: FlowBand[] = lanes.flatMap((from) => {
    const targets = countLanes(pairs.filter(({ before }) => before.lane === from).map(({ after }) => after));
    return lanes.flatMap((to): FlowBand[] => {
      const count = targets.get(to);
      if (count === undefined) return [];
      const top = left?.get(from) ?? 0;
      left?.set(from, top + count * unit);
      return [{ from, to, count, height: count * unit, tops: [top, 0] }];
    });
  });
  // Bands of one target stand in the order of their sources, so that they cross as little as possible.
  for (const band of bands) {
    band.tops[1] = right?.get(band.to) ?? 0;
    right?.set(band.to, band.tops[1] + band.height);
  }
  const height = Math.max(...nodes.flat().map((node) => node.top + Math.max(node.height, LABEL_PX)), 0);
  return { nodes, bands, height };
}

function countLanes(items: readonly PlanItem[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { lane } of items) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  return counts;
}
