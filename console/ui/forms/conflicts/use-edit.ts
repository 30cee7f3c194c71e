import { useState } from 'react';
import { type Draft, type FieldChange, type FieldLabels, isEqual, mergeDrafts } from './merge-drafts.ts';

/** A resource that a form changes. */
interface EditedResource<R extends { updated_at: string | null }, D extends Draft> {
  /** The resource as the person sees it when the form opens. */
  resource: R;
  /** Reads its present state. */
  fetch: () => Promise<R>;
  /** Returns the values that a form of the resource begins with. */
  createDraft: (resource: R) => D;
  labels: FieldLabels<D>;
}

/** The values of a form, and the state of the resource that they depend on. */
export interface Edit<R, D> {
  draft: D;
  change: (values: Partial<D>) => void;
  /** The state that the person has seen. The form sends its `updated_at`, so that no other state is overwritten. */
  seen: R;
  /** Sets the state after the form was saved and stays open. */
  setSeen: (resource: R) => void;
  /** Reads the present state into the form, keeps what the person has typed, and returns what somebody else has changed. */
  load: () => Promise<FieldChange[]>;
}

/** Returns true if the state is later than the other one. A setting that nobody has changed is the earliest. */
function isNewer(state: { updated_at: string | null }, other: { updated_at: string | null }): boolean {
  return Date.parse(state.updated_at ?? '1970-01-01') > Date.parse(other.updated_at ?? '1970-01-01');
}

/** The values of a form that changes a resource, while others may change the resource too. */
export function useEdit<R extends { updated_at: string | null }, D extends Draft>({
  resource,
  fetch,
  createDraft,
  labels,
}: EditedResource<R, D>): Edit<R, D> {
  // The page reads the resource again while somebody edits it, so the state that the draft began with is kept.
  const [seen, setSeen] = useState(resource);
  const [draft, setDraft] = useState(() => createDraft(resource));
  // A form in which nothing was typed shows the newest state, such as that after a lock by the person themselves.
  if (isNewer(resource, seen) && isEqual(draft, createDraft(seen))) {
    setSeen(resource);
    setDraft(createDraft(resource));
  }
  return {
    draft,
    change: (values) => setDraft((current) => ({ ...current, ...values })),
    seen,
    setSeen,
    load: async () => {
      const present = await fetch();
      const states = { began: createDraft(seen), draft, present: createDraft(present) };
      const { draft: merged, changes } = mergeDrafts(states, labels);
      setDraft(merged);
      setSeen(present);
      return changes;
    },
  };
}
