import type { Secret } from '@switchyard/contract/applications/secrets.ts';
import { Field } from '../../ui/forms/field.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';

export const EMPTY_SECRET: Secret = { type: 'env', location: '', value: '' };

const TYPES = [
  { value: 'env', label: 'Environment variable' },
  { value: 'file', label: 'File' },
];

/** The fields of a new secret: form, name or path, and value. */
export function SecretFields({ secret, onChange }: { secret: Secret; onChange: (secret: Secret) => void }) {
  const isFile = secret.type === 'file';
  return (
    <>
      <SelectField
        label="Form"
        value={secret.type}
        options={TYPES}
        onChange={(value) => onChange({ ...secret, type: value === 'file' ? 'file' : 'env' })}
      />
      <TextField
        label={isFile ? 'Path' : 'Name of the variable'}
        help={isFile ? 'Below the working directory of the app.' : 'Letters, digits and underscores.'}
        value={secret.location}
        onChange={(location) => onChange({ ...secret, location })}
      />
      <SecretValue
        type={secret.type}
        value={secret.value}
        onChange={(value) => onChange({ ...secret, value })}
      />
    </>
  );
}

/** A value that is written and never shown. A file may have lines, which a password field would join. */
export function SecretValue({
  type,
  value,
  onChange,
}: {
  type: Secret['type'];
  value: string;
  onChange: (value: string) => void;
}) {
  if (type === 'env') return <TextField label="Value" type="password" value={value} onChange={onChange} />;
  return (
    <Field label="Value" help="The text of the file.">
      {(attributes) => (
        <textarea
          {...attributes}
          rows={5}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
