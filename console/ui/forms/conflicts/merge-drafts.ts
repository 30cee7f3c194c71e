/** Merges a form that a person is filling in with a state of the resource that is newer than the one the form began with. Pure. */

/** The values of a form, by field. */
export type Draft = object;

/** A change of a field by somebody else while the form was open. */
export interface FieldChange {
  /** Label of the field. */
  label: string;
  before: string;
  after: string;
  /** true: the person has changed the field too, and the form keeps their value. */
  isRetained: boolean;
}

/** Labels of the fields that a form shows; one without a label is merged and not listed. */
export type FieldLabels<D extends Draft> = { readonly [Field in keyof D]?: string };

/**
 * Returns the values that the form has on the newer state, and the changes between both states. A field that the person has
 * changed keeps their value, and a list gets the changes of both; any other field gets that of the newer state.
 */
export function mergeDrafts<D extends Draft>(
  { began, draft, present }: { began: D; draft: D; present: D },
  labels: FieldLabels<D>,
): { draft: D; changes: FieldChange[] } {
  const merged = { ...draft };
  const changes: FieldChange[] = [];
  for (const field of listFields(began)) {
    const isEdited = !isEqual(draft[field], began[field]);
    if (!isEdited) merged[field] = present[field];
    const isList = mergeLists(merged, field, { began, draft, present });
    const label = labels[field];
    if (label === undefined || isEqual(began[field], present[field])) continue;
    const isRetained = isEdited && !isList && !isEqual(draft[field], present[field]);
    changes.push({
      label,
      before: formatField(began[field]),
      after: formatField(present[field]),
      isRetained,
    });
  }
  return { draft: merged, changes };
}

/** Adds to the newer list what the person has added, and removes what they have removed. Returns false for no list. */
function mergeLists<D extends Draft>(
  merged: D,
  field: keyof D,
  { began, draft, present }: { began: D; draft: D; present: D },
): boolean {
  const [before, mine, theirs]: unknown[] = [began[field], draft[field], present[field]];
  if (!(Array.isArray(before) && Array.isArray(mine) && Array.isArray(theirs))) return false;
  const remaining = theirs.filter((one) => mine.includes(one) || !before.includes(one));
  const added = mine.filter((one) => !before.includes(one) && !theirs.includes(one));
  Object.assign(merged, { [field]: [...remaining, ...added] });
  return true;
}

function listFields<D extends Draft>(draft: D): (keyof D)[] {
  const fields: (keyof D)[] = [];
  for (const field in draft) fields.push(field);
  return fields;
}

/** Returns true for equal values of a field, or of a form. */
export const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Returns the value for people; lists and maps in one line. */
function formatField(value: unknown): string {
  if (value === '' || value === null || value === undefined) return 'empty';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(formatField).join(', ') || 'empty';
  if (typeof value !== 'object') return String(value).replaceAll('\n', ', ');
  const entries = Object.entries(value).map(([name, one]) => `${name} = ${formatField(one)}`);
  return entries.join(', ') || 'empty';
}
