import type { ReactNode } from 'react';
import { useEdit } from '../forms/conflicts/use-edit.ts';
import type { FormRequest } from '../forms/curl.ts';
import { FormDialog } from '../forms/form-dialog.tsx';
import { TextField } from '../forms/text-field.tsx';

/** The fields that name a resource. */
interface ResourceName {
  name: string;
  description: string;
}

/** The state of a resource that the person has seen. */
interface NamedState extends ResourceName {
  updated_at: string;
}

/** The condition of a change: empty for a resource whose changes have none. */
interface Condition {
  expected_updated_at?: string;
}

interface RenameDialogProps {
  /** Names the resource, such as `input`. */
  noun: string;
  current: ResourceName & Partial<NamedState>;
  /** Reads its present state; absent for a resource whose changes have no condition. */
  fetchCurrent?: () => Promise<NamedState>;
  /** Says what a new name does not change. */
  children?: ReactNode;
  /** Returns the request that changes the name. */
  buildRequest: (changed: ResourceName) => FormRequest;
  onRename: (changed: ResourceName, condition: Condition) => Promise<void>;
  onClose: () => void;
}

/** Changes the name and the description of a resource. */
export function RenameDialog({
  noun,
  current,
  fetchCurrent,
  children,
  buildRequest,
  onRename,
  onClose,
}: RenameDialogProps) {
  const { name, description, updated_at = null } = current;
  const edit = useEdit<ResourceName & { updated_at: string | null }, ResourceName>({
    resource: { name, description, updated_at },
    fetch: fetchCurrent ?? (() => Promise.reject(new Error(`A change of this ${noun} has no condition.`))),
    createDraft: (state) => ({ name: state.name, description: state.description }),
    labels: { name: 'Name', description: 'Description' },
  });
  const { draft, change, seen } = edit;
  const changed = { name: draft.name.trim(), description: draft.description.trim() };
  const condition =
    fetchCurrent === undefined || seen.updated_at === null ? {} : { expected_updated_at: seen.updated_at };
  return (
    <FormDialog
      title={`Rename ${noun}`}
      action="Save"
      missing={changed.name === '' && 'Give a name'}
      requests={[buildRequest(changed)]}
      onClose={onClose}
      onSubmit={() => onRename(changed, condition)}
      onLoad={fetchCurrent && edit.load}
    >
      {children}
      <TextField label="Name" value={draft.name} onChange={(value) => change({ name: value })} autoFocus />
      <TextField
        label="Description"
        value={draft.description}
        onChange={(value) => change({ description: value })}
      />
    </FormDialog>
  );
}
