/** Reads the views that an app asks for: the list `visualization` in its output, or in the solution of its output. */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { formatCell } from '../content/json-text.ts';

const VIEW_SCHEMAS = ['routes', 'places', 'geojson', 'gantt', 'table'] as const;
const HINTS_MAX = 10;

/** The kind of a view. */
export type ViewSchema = (typeof VIEW_SCHEMAS)[number];

/** A view that an app asks for. */
export interface ViewHint {
  schema: ViewSchema;
  /** Title of the view; empty for the default of its kind. */
  label: string;
  /** Place of the data in the output, such as `solution.vehicles[].route`. */
  path: string;
  /** Names of the fields of the data that differ from the usual ones. */
  fields: Readonly<Record<string, string>>;
}

/** The views that an app asks for, and why others are not shown. */
export interface ViewHints {
  hints: ViewHint[];
  problems: string[];
}

/** Returns the hints of an output; undefined for an output without `visualization`. */
export function readHints(output: unknown): ViewHints | undefined {
  const list = readList(output);
  if (list === undefined) return undefined;
  if (!Array.isArray(list))
    return { hints: [], problems: ['`visualization` is no list. Give a list of views.'] };
  const result: ViewHints = { hints: [], problems: [] };
  const items: readonly unknown[] = list;
  for (const [index, item] of items.slice(0, HINTS_MAX).entries()) {
    const hint = readHint(item);
    if (typeof hint === 'string') result.problems.push(`\`visualization[${index}]\`: ${hint}`);
    else result.hints.push(hint);
  }
  if (items.length > HINTS_MAX)
    result.problems.push(`\`visualization\` has ${items.length} views. The first ${HINTS_MAX} are shown.`);
  return result;
}

function readList(output: unknown): unknown {
  if (!isRecord(output)) return undefined;
  if (Object.hasOwn(output, 'visualization')) return output.visualization;
  const { solution } = output;
  return isRecord(solution) && Object.hasOwn(solution, 'visualization') ? solution.visualization : undefined;
}

/** Returns the hint, or the sentence that says why it is none. */
function readHint(item: unknown): ViewHint | string {
  if (!isRecord(item)) return 'not an object. Give `schema` and `path`.';
  const schema = VIEW_SCHEMAS.find((one) => one === item.schema);
  if (schema === undefined)
    return `\`schema\` is \`${formatCell(item.schema, 40)}\`. It can be ${VIEW_SCHEMAS.join(', ')}.`;
  if (typeof item.path !== 'string' || item.path === '')
    return '`path` is missing. Give the place of the data, such as `solution.vehicles`.';
  const fields = isRecord(item.fields) ? Object.entries(item.fields) : [];
  return {
    schema,
    label: typeof item.label === 'string' ? item.label : '',
    path: item.path,
    fields: Object.fromEntries(
      fields.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  };
}
