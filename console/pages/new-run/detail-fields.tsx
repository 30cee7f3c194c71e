import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import {
  PRIORITY_MAX,
  PRIORITY_MIN,
  RUN_DESCRIPTION_CHARS_MAX,
  RUN_NAME_CHARS_MAX,
} from '@switchyard/contract/limits.ts';
import { Field } from '../../ui/forms/field.tsx';
import { SecondsField } from '../../ui/forms/seconds/seconds-field.tsx';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
import type { RunDraft } from './draft.ts';
import styles from './new-run-page.module.css';
import type { NewRunData } from './queries.ts';

interface DetailFieldsProps {
  data: NewRunData;
  draft: RunDraft;
  /** The values with which the form opened. */
  initial: RunDraft;
  onChange: (values: Partial<RunDraft>) => void;
}

/** Name, description and place in the queue of the run, and what it needs. */
export function DetailFields({ data, draft, initial, onChange }: DetailFieldsProps) {
  const describeChange = createChangeDescriber({ data, draft, initial });
  return (
    <section className={styles.section} aria-label="Details">
      <h2>Details</h2>
      <Field label="Name" changed={describeChange('name')}>
        {(attributes) => (
          <input
            {...attributes}
            value={draft.name}
            maxLength={RUN_NAME_CHARS_MAX}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Description" changed={describeChange('description')}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            value={draft.description}
            maxLength={RUN_DESCRIPTION_CHARS_MAX}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
      <QueueFields {...{ data, draft, initial, onChange }} />
    </section>
  );
}

/** Returns the function that says what a field was before the person changed it; null for an unchanged one. */
function createChangeDescriber({ data, draft, initial }: Omit<DetailFieldsProps, 'onChange'>) {
  return (
    name: 'name' | 'description' | 'priority' | 'executionClass' | 'maxDuration' | 'secrets',
  ): string | null =>
    data.original && draft[name] !== initial[name] ? `changed from ${initial[name] || 'no value'}` : null;
}

/** Priority, execution class and secrets, with the value of the instance as the first choice. */
function QueueFields({ data, draft, initial, onChange }: DetailFieldsProps) {
  const { configuration } = data.instance;
  const describeChange = createChangeDescriber({ data, draft, initial });
  return (
    <div className={styles.options}>
      <Field label="Priority" changed={describeChange('priority')}>
        {(attributes) => (
          <select
            {...attributes}
            value={draft.priority}
            onChange={(event) => onChange({ priority: event.target.value })}
          >
            <option value="">{configuration.queuing.priority} (instance)</option>
            {PRIORITIES.map((priority) => (
              <option key={priority} value={priority}>
                {priority === PRIORITY_MIN
                  ? `${priority}, first`
                  : priority === PRIORITY_MAX
                    ? `${priority}, last`
                    : priority}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Execution class" changed={describeChange('executionClass')}>
        {(attributes) => (
          <select
            {...attributes}
            value={draft.executionClass}
            onChange={(event) => onChange({ executionClass: event.target.value })}
          >
            <option value="">{configuration.execution_class} (instance)</option>
            {EXECUTION_CLASSES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <SecondsField
        label="Maximum duration"
        changed={describeChange('maxDuration')}
        placeholder={configuration.max_duration ? `${configuration.max_duration} s` : 'seconds'}
        value={draft.maxDuration}
        onChange={(maxDuration) => onChange({ maxDuration: maxDuration.trim() })}
      />
      <Field label="Secrets collection" changed={describeChange('secrets')}>
        {(attributes) => (
          <input
            {...attributes}
            value={draft.secrets}
            placeholder={configuration.secrets_collection_id || 'none'}
            autoComplete="off"
            onChange={(event) => onChange({ secrets: event.target.value.trim() })}
          />
        )}
      </Field>
    </div>
  );
}
