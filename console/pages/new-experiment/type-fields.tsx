import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { ExperimentType } from '../../ui/experiments/experiment-types.ts';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import type { ExperimentDraft } from './draft.ts';
import { BisectFields, ShadowFields, SwitchbackFields } from './live-fields.tsx';
import styles from './new-experiment-page.module.css';
import { ObjectiveFields } from './objective-fields.tsx';
import type { Choices } from './queries.ts';
import { RuleFields } from './rule-fields.tsx';

interface DraftFieldsProps {
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

type TypeFieldsProps = DraftFieldsProps & { application: string; type: ExperimentType };

/** The fields that the type of the experiment needs. */
export function TypeFields({ application, type, ...fields }: TypeFieldsProps) {
  const usesInputSet = type !== 'shadow' && type !== 'switchback';
  return (
    <>
      {usesInputSet && <InputFields {...fields} application={application} type={type} />}
      {type === 'bisect' ? <BisectFields {...fields} /> : <SideFields {...fields} type={type} />}
      {type === 'scenario' && <ScenarioFields {...fields} />}
      {type === 'shadow' && <ShadowFields {...fields} />}
      {type === 'switchback' && <SwitchbackFields {...fields} />}
      {type === 'acceptance' ? <RuleFields {...fields} /> : <ObjectiveFields {...fields} type={type} />}
    </>
  );
}

/** The input set, and how often each side runs each input. */
function InputFields({ application, type, draft, choices, change }: TypeFieldsProps) {
  if (choices.inputSets.length === 0)
    return (
      <Notice kind="warning">
        The application has no input set, which this experiment runs on.{' '}
        <Link to="/apps/$application/input-sets" params={{ application }}>
          Create one from runs
        </Link>
        .
      </Notice>
    );
  return (
    <section className={styles.section} aria-label="Inputs">
      <div className={styles.row}>
        <SelectField
          label="Input set"
          help="A verdict needs at least ten inputs."
          value={draft.inputSet}
          options={choices.inputSets.map(({ id, name, inputs }) => ({
            value: id,
            label: `${name} (${inputs} ${inputs === 1 ? 'input' : 'inputs'})`,
          }))}
          onChange={(inputSet) => change({ inputSet })}
        />
        {type !== 'bisect' && (
          <TextField
            label="Repetitions"
            help="Runs of each input on each side. Repetitions help where equal runs differ."
            value={draft.repetitions}
            onChange={(repetitions) => change({ repetitions })}
          />
        )}
      </div>
    </section>
  );
}

/** The control and its candidates. Some types have one candidate alone. */
function SideFields({ type, draft, choices, change }: DraftFieldsProps & { type: ExperimentType }) {
  const isLive = type === 'shadow' || type === 'switchback';
  const others = choices.instances.filter((id) => id !== draft.control);
  const hasOne = type === 'acceptance' || type === 'switchback';
  return (
    <section className={styles.section} aria-label="Sides">
      <div className={styles.row}>
        <SelectField
          label={isLive ? 'Baseline' : 'Control'}
          help={isLive ? 'The instance that callers use.' : 'The others are compared with this instance.'}
          value={draft.control}
          options={choices.instances}
          onChange={(control) =>
            change({ control, candidates: draft.candidates.filter((id) => id !== control) })
          }
        />
        {hasOne && (
          <SelectField
            label="Candidate"
            value={draft.candidates[0] ?? ''}
            options={[
              { value: '', label: 'Choose an instance' },
              ...others.map((id) => ({ value: id, label: id })),
            ]}
            onChange={(candidate) => change({ candidates: candidate === '' ? [] : [candidate] })}
          />
        )}
      </div>
      {!hasOne && (
        <fieldset className={styles.choices}>
          <legend>{type === 'scenario' ? 'Other instances' : 'Candidates'}</legend>
          {others.map((id) => (
            <label key={id} className={styles.choice}>
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
              {id}
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
    <section className={styles.section} aria-label="Scenarios">
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
        <p id={`${id}help`} className={styles.hint}>
          Options by key, as JSON. Each instance runs each input with each set; the first set of the control
          is what the others are compared with.
        </p>
      </div>
      <label className={styles.choice}>
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
