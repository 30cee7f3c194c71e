import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../client/client.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import form from '../../ui/forms/form.module.css';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { countOptionSets, countRepetitions, type ExperimentDraft } from './draft.ts';
import { SearchSize } from './estimate/search-size.tsx';
import { TimeEstimate } from './estimate/time-estimate.tsx';
import type { MissingPart } from './list-missing.ts';
import { countInputs, listWork } from './list-work.ts';
import styles from './new-experiment-page.module.css';
import { type Choices, type PlannedSizes, planQuery } from './queries.ts';
import type { InstanceRuns } from './types/count-runs.ts';
import type { ExperimentRequest } from './types/type-forms.ts';

interface PlannerProps {
  application: string;
  type: ExperimentType;
  draft: ExperimentDraft;
  choices: Choices;
  /** The request of the form, or the reason why it has none. */
  request: ExperimentRequest | string;
  missing: readonly MissingPart[];
}

/** The number of runs, and the smallest difference that they find, before anything starts. */
export function Planner({ application, type, draft, choices, request, missing }: PlannerProps) {
  const [chosen, setChosen] = useState<Omit<Spread, 'experiment'> & { experiment?: string }>({
    betweenInputs: '5',
    withinInput: '5',
    difference: '5',
  });
  const inputs = countInputs(draft, choices);
  const sizes = {
    ...chosen,
    experiment: hasField(type, 'units') ? '' : (chosen.experiment ?? choices.experiments[0]?.id ?? ''),
    indicator: draft.indicator,
    comparisons: countConfigurations(type, draft) - 1,
    size: chooseSize(type, draft, inputs),
  };
  const isRefused = useIsRefused(application, sizes) && chosen.experiment === undefined;
  const spread = { ...sizes, ...(isRefused && { experiment: '' }) };
  if (hasField(type, 'searchRuns'))
    return (
      <section className={styles.plan} aria-label="Plan of the experiment">
        <h2>Planner</h2>
        {typeof request !== 'string' && (
          <SearchSize {...{ application, type, draft, request }} available={choices.slots} />
        )}
      </section>
    );
  // Without a candidate the runs are those of only the control.
  const work = missing.some(({ step }) => step === 'sides') ? undefined : listWork(type, draft, choices);
  const time = <TimeEstimate {...{ application, type, draft, work }} available={choices.slots} />;
  // The runs exist already.
  if (hasField(type, 'existingBatch') && draft.batch !== '') return null;
  if (draft.listedRuns.trim() !== '')
    return (
      <section className={styles.plan} aria-label="Plan of the experiment">
        <h2>Planner</h2>
        <RunCount work={work} />
        {time}
      </section>
    );
  const isSwitchback = hasField(type, 'units');
  return (
    <section className={styles.plan} aria-label="Plan of the experiment">
      <h2>Planner</h2>
      <SpreadFields
        isSwitchback={isSwitchback}
        choices={choices}
        spread={spread}
        onChange={(values) => setChosen({ ...chosen, ...values })}
      />
      {!hasField(type, 'copies') && <RunCount work={work} />}
      {time}
      <PlanResult application={application} sizes={spread} />
    </section>
  );
}

/** Returns true if the earlier experiment shows no spread of this indicator: the planner then begins with an assumption. */
function useIsRefused(application: string, sizes: PlannedSizes): boolean {
  const isComplete = isPlannable(sizes) && sizes.experiment !== '';
  return useQuery({ ...planQuery(application, sizes), enabled: isComplete }).isError;
}

function isPlannable({ difference, size }: PlannedSizes): boolean {
  const counts = Object.values(size);
  return Number(difference) > 0 && counts.every((count) => Number.isInteger(count) && count > 0);
}

/** The number of runs that the experiment creates, child runs of ensembles among them. */
function RunCount({ work = [] }: { work: readonly InstanceRuns[] | undefined }) {
  const runs = work.reduce((sum, part) => sum + part.runs, 0);
  if (!(runs > 0)) return null;
  return (
    <p className={styles.runs}>
      {formatNumber(runs)} {runs === 1 ? 'run' : 'runs'} in all.
    </p>
  );
}

/** The evidence of how much inputs differ: an earlier experiment, or assumed deviations in percent. */
type Spread = Pick<PlannedSizes, 'experiment' | 'betweenInputs' | 'withinInput' | 'difference'>;

interface SpreadFieldsProps {
  isSwitchback: boolean;
  choices: Choices;
  spread: Spread;
  onChange: (values: Partial<Spread>) => void;
}

function SpreadFields({ isSwitchback, choices, spread, onChange }: SpreadFieldsProps) {
  const isAssumed = isSwitchback || spread.experiment === '';
  return (
    <div className={form.row}>
      {!isSwitchback && (
        <SelectField
          label="Spread"
          help="Runs of an earlier experiment, or your assumption, show how much inputs differ."
          value={spread.experiment}
          options={[
            { value: '', label: 'My assumption' },
            ...choices.experiments.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(id) => onChange({ experiment: id })}
        />
      )}
      <TextField
        label="Difference to find, %"
        value={spread.difference}
        onChange={(difference) => onChange({ difference })}
      />
      {isAssumed && (
        <TextField
          label={isSwitchback ? 'Spread of units, %' : 'Spread of inputs, %'}
          value={spread.betweenInputs}
          onChange={(betweenInputs) => onChange({ betweenInputs })}
        />
      )}
      {isAssumed && !isSwitchback && (
        <TextField
          label="Spread of equal runs, %"
          value={spread.withinInput}
          onChange={(withinInput) => onChange({ withinInput })}
        />
      )}
    </div>
  );
}

function countConfigurations(type: ExperimentType, draft: ExperimentDraft): number {
  return (draft.candidates.length + 1) * (hasField(type, 'optionSets') ? countOptionSets(draft) : 1);
}

function chooseSize(type: ExperimentType, draft: ExperimentDraft, inputs: number): PlannedSizes['size'] {
  if (hasField(type, 'units')) return { units: Number(draft.units) };
  if (hasField(type, 'copies')) return { inputs: Number(draft.maximumRuns), repetitions: 1 };
  return { inputs, repetitions: countRepetitions(draft) };
}

/** Further sentences explain these. */
const SENTENCES_SHOWN = 2;

/** The sentences of the planner, and the sizes that find the difference. */
function PlanResult({ application, sizes }: { application: string; sizes: PlannedSizes }) {
  const isComplete = isPlannable(sizes);
  const { data, error } = useQuery({ ...planQuery(application, sizes), enabled: isComplete });
  return (
    <div className={styles.result} aria-live="polite">
      {!isComplete && <p className="soft">Choose inputs and a difference above 0 to see the plan.</p>}
      {isComplete && !data && !error && <p className="soft">Computing the plan …</p>}
      {isComplete && error && <Notice kind="warning">{describeError(error)}</Notice>}
      {isComplete && data && !error && (
        <>
          {data.sentences.slice(0, SENTENCES_SHOWN).map((text) => (
            <p key={text}>{text}</p>
          ))}
          <details className={form.more}>
            <summary>Other plans, and how they are computed</summary>
            {data.sentences.slice(SENTENCES_SHOWN).map((text) => (
              <p key={text}>{text}</p>
            ))}
            {data.plans.length > 1 && <PlanTable plans={data.plans} />}
          </details>
        </>
      )}
    </div>
  );
}

function PlanTable({ plans }: { plans: ExperimentPlan['plans'] }) {
  return (
    <DataTable
      label="Plans that find the difference"
      rows={plans}
      keyOf={({ repetitions }) => String(repetitions)}
      columns={[
        { title: 'Repetitions', kind: 'number', cell: ({ repetitions }) => formatNumber(repetitions) },
        { title: 'Inputs', kind: 'number', cell: ({ inputs }) => formatNumber(inputs) },
        { title: 'Runs', kind: 'number', cell: ({ runs }) => formatNumber(runs) },
      ]}
    />
  );
}
