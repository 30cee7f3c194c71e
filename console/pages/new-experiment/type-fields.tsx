import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import {
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { formatEnsembleSide } from './draft.ts';
import { DraftFields, type DraftFieldsProps } from './draft-fields.tsx';
import { GROUPS } from './fields.ts';
import { ObjectiveFields } from './indicator-fields.tsx';
import { InputFields } from './input-fields.tsx';
import styles from './new-experiment-page.module.css';
import type { Choices } from './queries.ts';
import { RuleFields } from './rule-fields.tsx';

type TypeFieldsProps = DraftFieldsProps & { application: string; type: ExperimentType };

/** The fields that the type of the experiment needs. */
export function TypeFields({ application, type, ...fields }: TypeFieldsProps) {
  return (
    <>
      {!hasFact(type, 'isLive') && <InputFields {...fields} application={application} type={type} />}
      <FieldSection {...fields} type={type} group="versions" title="Search" />
      {!hasField(type, 'versions') && <SideFields {...fields} application={application} type={type} />}
      {hasField(type, 'optionSets') && <ScenarioFields {...fields} />}
      <FieldSection {...fields} type={type} group="copies" title="Copies" />
      <FieldSection {...fields} type={type} group="units" title="Plan" />
      {hasField(type, 'rules') ? <RuleFields {...fields} /> : <ObjectiveFields {...fields} type={type} />}
      <MoreFields {...fields} type={type} />
    </>
  );
}

interface FieldSectionProps extends DraftFieldsProps {
  type: ExperimentType;
  group: FormField;
  title: string;
}

/** The fields of a group that only some types have. */
function FieldSection({ type, group, title, ...props }: FieldSectionProps) {
  if (!hasField(type, group)) return null;
  return (
    <section className={form.section} aria-label={title}>
      <div className={form.row}>
        <DraftFields {...props} names={GROUPS[group] ?? []} />
      </div>
    </section>
  );
}

/** Returns what can be compared: instances, and in experiments on an input set ensembles too. */
function listSides(type: ExperimentType, choices: Choices): { value: string; label: string }[] {
  const ensembles = hasField(type, 'ensembles') ? choices.ensembles : [];
  return [
    ...choices.instances.map((id) => ({ value: id, label: id })),
    ...ensembles.map(({ id }) => ({ value: formatEnsembleSide(id), label: `${id} (ensemble)` })),
  ];
}

/** The control and its candidates. Some types have one candidate alone. */
function SideFields({ application, type, draft, choices, change }: TypeFieldsProps) {
  const isLive = hasFact(type, 'isLive');
  const sides = listSides(type, choices);
  const others = sides.filter(({ value }) => value !== draft.control);
  const hasOne = !hasField(type, 'candidates');
  return (
    <section className={form.section} aria-label="Sides">
      <div className={form.row}>
        <SelectField
          label={isLive ? 'Baseline' : 'Control'}
          help={isLive ? 'The instance that callers use.' : 'The others are compared with this instance.'}
          value={draft.control}
          options={sides}
          onChange={(control) =>
            change({ control, candidates: draft.candidates.filter((id) => id !== control) })
          }
        />
        {hasOne && (
          <SelectField
            label="Candidate"
            value={draft.candidates[0] ?? ''}
            options={[{ value: '', label: 'Choose an instance' }, ...others]}
            onChange={(candidate) => change({ candidates: candidate === '' ? [] : [candidate] })}
          />
        )}
      </div>
      {!hasOne && (
        <fieldset className={form.choices}>
          <legend>{hasField(type, 'optionSets') ? 'Other instances' : 'Candidates'}</legend>
          {others.length === 0 && (
            <p className="soft">
              There is no other instance.{' '}
              <Link to="/apps/$application/new-instance" params={{ application }}>
                Create one
              </Link>
            </p>
          )}
          {others.map(({ value: id, label }) => (
            <label key={id} className={form.choice}>
              <input
                type="checkbox"
                checked={draft.candidates.includes(id)}
                onChange={(event) =>
                  change({
                    candidates: event.target.checked
                      ? [...draft.candidates, id]
                      : draft.candidates.filter((one) => one !== id),
                  })
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
    </section>
  );
}

/** The option sets of a scenario test, and whether it drops those that cannot win. */
function ScenarioFields({ draft, change }: DraftFieldsProps) {
  const id = useId();
  return (
    <section className={form.section} aria-label="Scenarios">
      <div className={styles.text}>
        <label htmlFor={id}>Option sets</label>
        <textarea
          id={id}
          rows={5}
          spellCheck={false}
          aria-describedby={`${id}help`}
          value={draft.optionSets}
          onChange={(event) => change({ optionSets: event.target.value })}
        />
        <p id={`${id}help`} className="soft">
          Options by key, as JSON. Each instance runs each input with each set; the first set of the control
          is what the others are compared with.
        </p>
      </div>
      <label className={form.choice}>
        <input
          type="checkbox"
          checked={draft.usesRacing}
          onChange={(event) => change({ usesRacing: event.target.checked })}
        />
        Race: stop configurations that cannot win
      </label>
    </section>
  );
}

const MORE: readonly FormField[] = [
  ...(['seeds', 'inputProperties', 'failureMargin', 'comparison', 'ties'] as const),
  ...(['confidence', 'race', 'runSettings', 'searchRuns'] as const),
];

/** Settings that most experiments leave as they are, behind one button. */
function MoreFields({ type, ...props }: DraftFieldsProps & { type: ExperimentType }) {
  const { draft, change } = props;
  const hasRuns = hasField(type, 'existingBatch') && draft.batch !== '';
  const groups = MORE.filter(
    (group) =>
      hasField(type, group) && !(hasRuns && (group === 'inputProperties' || group === 'runSettings')),
  );
  return (
    <details className={form.more}>
      <summary>More settings</summary>
      <div className={form.row}>
        <DraftFields {...props} names={groups.flatMap((group) => GROUPS[group] ?? [])} />
      </div>
      {hasField(type, 'listedRuns') && (
        <Field
          label="Listed runs"
          help='In place of the sides, repetitions and seeds: a JSON list such as [{"instance_id": "production", "input_id": "monday"}]. Without an input_id a run stands for every input.'
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={3}
              spellCheck={false}
              value={draft.listedRuns}
              onChange={(event) => change({ listedRuns: event.target.value })}
            />
          )}
        </Field>
      )}
    </details>
  );
}
