import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import {
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { Icon } from '@switchyard/design/icon.tsx';
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
import { type MissingPart, nameTarget } from './list-missing.ts';
import styles from './new-experiment-page.module.css';
import type { Choices } from './queries.ts';
import { RuleFields } from './rule-fields.tsx';
import { Step } from './step.tsx';

type TypeFieldsProps = DraftFieldsProps & {
  application: string;
  type: ExperimentType;
  missing: readonly MissingPart[];
};

/** The steps that the type of the experiment needs. */
export function TypeFields({ application, type, missing, ...fields }: TypeFieldsProps) {
  const props = { ...fields, type };
  return (
    <>
      <FieldSection {...props} group="versions" title="Search" />
      {!hasField(type, 'versions') && (
        <Step name="sides" title="Sides" missing={missing}>
          <SideFields {...props} application={application} />
        </Step>
      )}
      {hasField(type, 'optionSets') && (
        <Step title="Scenarios">
          <ScenarioFields {...fields} />
        </Step>
      )}
      {!hasFact(type, 'isLive') && (
        <Step name="inputs" title="Inputs" missing={missing}>
          <InputFields {...props} application={application} />
        </Step>
      )}
      <FieldSection {...props} group="copies" title="Copies" />
      <FieldSection {...props} group="units" title="Plan" />
      <Step title={hasField(type, 'rules') ? 'What it must pass' : 'What counts'}>
        {hasField(type, 'rules') ? <RuleFields {...fields} /> : <ObjectiveFields {...props} />}
      </Step>
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
    <Step title={title}>
      <div className={form.row}>
        <DraftFields {...props} names={GROUPS[group] ?? []} />
      </div>
    </Step>
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
function SideFields({ application, type, draft, choices, change }: Omit<TypeFieldsProps, 'missing'>) {
  const isLive = hasFact(type, 'isLive');
  const sides = listSides(type, choices);
  const others = sides.filter(({ value }) => value !== draft.control);
  const hasOne = !hasField(type, 'candidates');
  return (
    <div className={form.section}>
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
          <div id={nameTarget('sides')}>
            <SelectField
              label="Candidate"
              value={draft.candidates[0] ?? ''}
              options={[{ value: '', label: 'Choose an instance' }, ...others]}
              onChange={(candidate) => change({ candidates: candidate === '' ? [] : [candidate] })}
            />
          </div>
        )}
      </div>
      {!hasOne && (
        <CandidateFields
          application={application}
          legend={hasField(type, 'optionSets') ? 'Other instances' : 'Candidates'}
          choices={others}
          chosen={draft.candidates}
          onChange={(candidates) => change({ candidates })}
        />
      )}
    </div>
  );
}

/** More candidates than this are searched, and those that are chosen stand as chips. */
const LISTED_MAX = 12;

interface CandidateFieldsProps {
  application: string;
  legend: string;
  choices: readonly { value: string; label: string }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Several candidates, none of which is chosen at the start. */
function CandidateFields({ application, legend, choices, chosen, onChange }: CandidateFieldsProps) {
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  const isLong = choices.length > LISTED_MAX;
  const rest = choices.filter(({ value }) => !chosen.includes(value));
  return (
    <fieldset className={form.choices} id={nameTarget('sides')}>
      <legend className={isLong ? 'visually-hidden' : undefined}>{legend}</legend>
      {choices.length === 0 && (
        <p className="soft">
          There is no other instance.{' '}
          <Link to="/apps/$application/new-instance" params={{ application }}>
            Create one
          </Link>
        </p>
      )}
      {isLong ? (
        <div className={styles.chooser}>
          <SelectField
            label="Add a candidate"
            help="By a part of its id."
            value=""
            options={[{ value: '', label: 'Choose an instance' }, ...rest]}
            onChange={(id) => id !== '' && toggle(id)}
          />
          <ul className={styles.chips} aria-label="Chosen candidates">
            {choices
              .filter(({ value }) => chosen.includes(value))
              .map(({ value, label }) => (
                <li key={value} title={label}>
                  <bdi>{escapeInvisible(label)}</bdi>
                  <button
                    type="button"
                    aria-label={`Remove ${escapeInvisible(label)}`}
                    onClick={() => toggle(value)}
                  >
                    <Icon name="close" />
                  </button>
                </li>
              ))}
          </ul>
        </div>
      ) : (
        choices.map(({ value, label }) => (
          <label key={value} className={form.choice}>
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
            <bdi>{escapeInvisible(label)}</bdi>
          </label>
        ))
      )}
    </fieldset>
  );
}

/** The option sets of a scenario test, and whether it drops those that cannot win. */
function ScenarioFields({ draft, change }: DraftFieldsProps) {
  const id = useId();
  return (
    <div className={form.section}>
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
    </div>
  );
}

const MORE: readonly FormField[] = [
  ...(['seeds', 'inputProperties', 'failureMargin', 'comparison', 'ties'] as const),
  ...(['confidence', 'race', 'runSettings', 'searchRuns'] as const),
];

/** Settings that most experiments leave as they are, behind one button. */
export function MoreFields({ type, ...props }: DraftFieldsProps & { type: ExperimentType }) {
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
