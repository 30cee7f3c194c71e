/**
 * Compares two outputs: as JSON, whose keys have no order, or as the files of two archives. Pure, because
 * comparison-thread.ts calls it too.
 */
import type { ReplayDifference } from '@switchyard/contract/runs/replays.ts';
import { isObject } from '@switchyard/worker/results/json-values.ts';

const DIFFERENCES_MAX = 20;
const VALUE_CHARS_MAX = 200;

/** The keys of an output that state the decision. An output without any of them is a decision as a whole. */
const SOLUTION_KEYS = ['solution', 'solutions'];
/** The keys beside the decision. They hold durations, charts and the options of the app. */
const REPORT_KEYS = ['statistics', 'metrics', 'assets', 'options'];

/** The differences between two outputs. */
export interface OutputDifferences {
  /** Number of places at which the solutions differ; null when neither output has one, only reports such as statistics. */
  inSolution: number | null;
  /** Number of places at which the outputs differ. */
  total: number;
  /** The first places, those in the solution first. */
  listed: ReplayDifference[];
}

/** Compares two outputs in JSON. Throws SyntaxError for a text that is not JSON. */
export function compareJsonOutputs(originalText: string, replayText: string): OutputDifferences {
  const original: unknown = JSON.parse(originalText);
  const replay: unknown = JSON.parse(replayText);
  const listed: ReplayDifference[] = [];
  if (!isObject(original) || !isObject(replay)) {
    const total = listDifferences({ original, replay }, listed);
    return { inSolution: total, total, listed };
  }
  const isDecision = selectSolutionKeys(original, replay);
  const keys = [...new Set([...Object.keys(original), ...Object.keys(replay)])];
  const compareKeys = (selected: readonly string[]): number =>
    listDifferences({ original: pick(original, selected), replay: pick(replay, selected) }, listed);
  const solution = keys.filter(isDecision);
  const inSolution = compareKeys(solution);
  const total = inSolution + compareKeys(keys.filter((key) => !isDecision(key)));
  return { inSolution: solution.length === 0 ? null : inSolution, total, listed };
}

/** Returns the predicate of the keys that belong to the solution of either output. */
function selectSolutionKeys(original: object, replay: object): (key: string) => boolean {
  const hasSolution = SOLUTION_KEYS.some((key) => Object.hasOwn(original, key) || Object.hasOwn(replay, key));
  return hasSolution ? (key) => SOLUTION_KEYS.includes(key) : (key) => !REPORT_KEYS.includes(key);
}

function pick(object: Record<string, unknown>, keys: readonly string[]): Map<string, unknown> {
  return new Map(keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]));
}

/** A place in a JSON value: a key or an index below another place. */
interface Place {
  parent: Place | null;
  key: string;
}

/** Two values of one place; `undefined` where one output has none. */
interface Pair {
  place: Place | null;
  original: unknown;
  replay: unknown;
}

/**
 * Counts the places at which the values differ, and adds the first ones to the list. Uses a stack of its own, because an
 * output can be nested deeper than the stack of calls.
 */
function listDifferences(root: Omit<Pair, 'place'>, listed: ReplayDifference[]): number {
  const stack: Pair[] = [{ ...root, place: null }];
  let count = 0;
  for (let pair = stack.pop(); pair !== undefined; pair = stack.pop()) {
    const members = listMembers(pair);
    if (members) {
      for (const member of members.reverse()) stack.push(member);
      continue;
    }
    if (pair.original === pair.replay) continue;
    count += 1;
    if (listed.length < DIFFERENCES_MAX)
      listed.push({
        path: formatPointer(pair.place),
        original: describeValue(pair.original),
        replay: describeValue(pair.replay),
      });
  }
  return count;
}

/** Returns the pairs below two objects or two arrays; null for any other two values. */
function listMembers({ place, original, replay }: Pair): Pair[] | null {
  const keyed = [toEntries(original), toEntries(replay)];
  const [first, second] = keyed;
  if (!first || !second || Array.isArray(original) !== Array.isArray(replay)) return null;
  return [...new Set([...first.keys(), ...second.keys()])].map((key) => ({
    place: { parent: place, key },
    original: first.get(key),
    replay: second.get(key),
  }));
}

function toEntries(value: unknown): ReadonlyMap<string, unknown> | null {
  if (value instanceof Map) return value;
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

/** Formats the place as a JSON Pointer, in which `~` and `/` of keys are escaped (RFC 6901). */
function formatPointer(place: Place | null): string {
  const keys: string[] = [];
  for (let at = place; at !== null; at = at.parent)
    keys.push(at.key.replaceAll('~', '~0').replaceAll('/', '~1'));
  return truncate(
    keys
      .reverse()
      .map((key) => `/${key}`)
      .join(''),
  );
}

function describeValue(value: unknown): string | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (isObject(value)) return `object with ${Object.keys(value).length} keys`;
  return truncate(JSON.stringify(value));
}

function truncate(text: string): string {
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX).toWellFormed()}…` : text;
}

/** Compares the files of two archives by their hashes; times of change and the order of the files do not count. */
export function compareFiles(
  original: ReadonlyMap<string, string>,
  replay: ReadonlyMap<string, string>,
): OutputDifferences {
  const differing = [...new Set([...original.keys(), ...replay.keys()])]
    .sort()
    .filter((path) => original.get(path) !== replay.get(path));
  const describe = (hash: string | undefined) => (hash === undefined ? null : `sha256 ${hash}`);
  return {
    inSolution: differing.length,
    total: differing.length,
    listed: differing.slice(0, DIFFERENCES_MAX).map((path) => ({
      path: truncate(path),
      original: describe(original.get(path)),
      replay: describe(replay.get(path)),
    })),
  };
}
