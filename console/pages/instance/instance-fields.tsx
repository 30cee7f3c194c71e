import type { Version } from '@switchyard/contract/applications/versions.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { FORMAT_TYPES } from '@switchyard/contract/schemas/field-schemas.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { versionsQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { SecondsField } from '../../ui/forms/seconds/seconds-field.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { OptionFields } from '../../ui/options/option-fields.tsx';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
import { findDefault, findValueErrors, type InstanceDraft } from './draft.ts';
import styles from './instance-page.module.css';
import { collectionsQuery } from './queries.ts';

const FORMATS = [{ value: '', label: 'as the manifest says' }, ...FORMAT_TYPES];

interface InstanceFieldsProps {
  application: string;
  draft: InstanceDraft;
  /** true for an instance that does not exist yet: its id can be chosen. */
  isNew: boolean;
  /** true if the fields only show the values. */
  isReadOnly: boolean;
  onChange: (values: Partial<InstanceDraft>) => void;
}

/** The fields of an instance: name and version, options of the version, and what its runs need. */
export function InstanceFields({ application, draft, isNew, isReadOnly, onChange }: InstanceFieldsProps) {
  const { data } = useSuspenseQuery(versionsQuery(application));
  const versions = listItems(data);
  const version = versions.find(({ id }) => id === draft.version);
  const definitions = version?.executable.requirements.options;
  return (
    <fieldset disabled={isReadOnly} className={styles.fields}>
      <div>
        <NameFields {...{ draft, isNew, versions, onChange }} />
        <ResourceFields {...{ application, draft, onChange }} />
      </div>
      <OptionFields
        items={definitions?.items ?? []}
        isStrict={definitions?.strict ?? false}
        values={draft.options}
        errors={findValueErrors(draft, version)}
        findPreset={findDefault}
        onChange={(options) => onChange({ options })}
      />
    </fieldset>
  );
}

type GroupProps = Pick<InstanceFieldsProps, 'draft' | 'onChange'>;

function NameFields({
  draft,
  isNew,
  versions,
  onChange,
}: GroupProps & { isNew: boolean; versions: readonly Version[] }) {
  const isKnown = versions.some(({ id }) => id === draft.version);
  return (
    <section className={styles.section} aria-label="General">
      <h2>General</h2>
      <div className={styles.grid}>
        <TextField label="Name" value={draft.name} onChange={(name) => onChange({ name })} />
        {isNew && (
          <TextField
            label="Id"
            help="Callers name it, and it never changes. Empty: the server generates one."
            value={draft.id}
            onChange={(id) => onChange({ id })}
          />
        )}
        <SelectField
          label="Version"
          help={isKnown ? undefined : 'This version was deleted, so runs are refused. Choose another.'}
          value={draft.version}
          options={[
            ...(isKnown ? [] : [{ value: draft.version, label: `${draft.version} (deleted)` }]),
            ...versions.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} (${id})` })),
          ]}
          onChange={(version) => onChange({ version })}
        />
      </div>
      <TextField
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ description })}
      />
    </section>
  );
}

/** Execution class, queue, secrets, formats, labels, licences and network of the runs. */
function ResourceFields({ application, draft, onChange }: GroupProps & { application: string }) {
  const { data } = useSuspenseQuery(collectionsQuery(application));
  const collections = listItems(data).map(({ id }) => id);
  const choices = draft.secrets === '' ? collections : [...new Set([draft.secrets, ...collections])];
  return (
    <section className={styles.section} aria-label="Resources of the runs">
      <h2>Resources of the runs</h2>
      <div className={styles.grid}>
        <SelectField
          label="Execution class"
          value={draft.executionClass}
          options={EXECUTION_CLASSES}
          onChange={(executionClass) => onChange({ executionClass })}
        />
        <SecondsField
          label="Maximum duration, s"
          value={draft.maxDuration}
          onChange={(maxDuration) => onChange({ maxDuration })}
        />
        <SelectField
          label="Queue priority"
          help={`${PRIORITY_MIN} is first in the queue.`}
          value={draft.priority}
          options={PRIORITIES.map(String)}
          onChange={(priority) => onChange({ priority })}
        />
        <SelectField
          label="Secrets collection"
          value={draft.secrets}
          options={[{ value: '', label: 'none' }, ...choices]}
          onChange={(secrets) => onChange({ secrets })}
        />
        <SelectField
          label="Input format"
          value={draft.inputFormat}
          options={FORMATS}
          onChange={(inputFormat) => onChange({ inputFormat })}
        />
        <SelectField
          label="Output format"
          value={draft.outputFormat}
          options={FORMATS}
          onChange={(outputFormat) => onChange({ outputFormat })}
        />
        <TextField
          label="Required labels"
          help="Of a worker, separated by commas, such as gpu, region=eu."
          value={draft.labels}
          onChange={(labels) => onChange({ labels })}
        />
        <TextField
          label="Licence tokens"
          help="That a run occupies, such as gurobi = 1."
          value={draft.licenses}
          onChange={(licenses) => onChange({ licenses })}
        />
      </div>
      <Checkbox
        label="Refuse a run while no slot is free, instead of queueing it"
        isChecked={draft.isRefusedWithoutSlot}
        onChange={(isRefusedWithoutSlot) => onChange({ isRefusedWithoutSlot })}
      />
      <Checkbox
        label="Runs may use the network"
        isChecked={draft.hasNetwork}
        onChange={(hasNetwork) => onChange({ hasNetwork })}
      />
    </section>
  );
}

function Checkbox({
  label,
  isChecked,
  onChange,
}: {
  label: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className={styles.checkbox}>
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}
