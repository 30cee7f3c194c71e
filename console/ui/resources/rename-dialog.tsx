import { type ReactNode, useState } from 'react';
import type { FormRequest } from '../forms/curl.ts';
import { FormDialog } from '../forms/form-dialog.tsx';
import { TextField } from '../forms/text-field.tsx';

/** The fields that name a resource. */
interface ResourceName {
  name: string;
  description: string;
}

interface RenameDialogProps {
  /** Names the resource, such as `input`. */
  noun: string;
  current: ResourceName;
  /** Says what a new name does not change. */
  children?: ReactNode;
  /** Returns the request that changes the name. */
  buildRequest: (changed: ResourceName) => FormRequest;
  onRename: (changed: ResourceName) => Promise<void>;
  onClose: () => void;
}

/** Changes the name and the description of a resource. */
export function RenameDialog({
  noun,
  current,
  children,
  buildRequest,
  onRename,
  onClose,
}: RenameDialogProps) {
  const [name, setName] = useState(current.name);
  const [description, setDescription] = useState(current.description);
  const changed = { name: name.trim(), description: description.trim() };
  return (
    <FormDialog
      title={`Rename ${noun}`}
      action="Save"
      isReady={changed.name !== ''}
      requests={[buildRequest(changed)]}
      onClose={onClose}
      onSubmit={() => onRename(changed)}
    >
      {children}
      <TextField label="Name" value={name} onChange={setName} autoFocus />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}
