import type { ExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { type ExperimentDraft, MEASURES, parseChoice } from './draft.ts';

interface MoreFieldsProps {
  type: ExperimentType;
  draft: ExperimentDraft;
  change: (values: Partial<ExperimentDraft>) => void;
}

const MEASURE_LABELS: Record<ExperimentDraft['measure'], string> = {
  auto: 'Ratios if every value is above 0',
  relative: 'Ratios',
  absolute: 'Differences',
};

/** Settings that most experiments leave as they are, behind one button. */
export function MoreFields({ type, draft, change }: MoreFieldsProps) {
  const isBatch = type === 'batch' || type === 'scenario';
  return (
    <details className={form.more}>
      <summary>More settings</summary>
      <div className={form.row}>
        {isBatch && <SeedFields draft={draft} change={change} />}
        {(isBatch || (type === 'acceptance' && draft.batch === '')) && (
          <InputPropertyFields draft={draft} change={change} />
        )}
        {type !== 'bisect' && (
          <TextField
            label="Accepted failures, % of inputs"
            help="Inputs that the candidate may lose more than the control; the default is none."
            value={draft.failureMargin}
            onChange={(failureMargin) => change({ failureMargin })}
          />
        )}
        {type !== 'bisect' && type !== 'acceptance' && (
          <MeasureFields draft={draft} change={change} hasTies={type !== 'switchback'} />
        )}
        {(type === 'bisect' || type === 'scenario') && (
          <TextField
            label="Confidence, %"
            help={
              type === 'bisect'
                ? 'Probability with which the version found is right.'
                : 'Probability with which a race keeps the best configuration.'
            }
            value={draft.confidence}
            onChange={(confidence) => change({ confidence })}
          />
        )}
        {type === 'bisect' && (
          <TextField
            label="Maximum number of runs"
            help="The search ends there; the default is the largest number."
            value={draft.searchRuns}
            onChange={(searchRuns) => change({ searchRuns })}
          />
        )}
      </div>
      {isBatch && (
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

type DraftFieldsProps = Omit<MoreFieldsProps, 'type'>;

function SeedFields({ draft, change }: DraftFieldsProps) {
  return (
    <>
      <TextField
        label="Seeds"
        help="Such as 1, 2, 3: one repetition with each, in place of the number of repetitions."
        value={draft.seeds}
        onChange={(seeds) => change({ seeds })}
      />
      <TextField
        label="Option that gets the seed"
        value={draft.seedOption}
        onChange={(seedOption) => change({ seedOption })}
      />
    </>
  );
}

function InputPropertyFields({ draft, change }: DraftFieldsProps) {
  return (
    <>
      <TextField
        label="Features of the inputs"
        help="Such as bytes, /stops: the results show the effect by each. The verdict stays the same."
        value={draft.features}
        onChange={(features) => change({ features })}
      />
      <TextField
        label="Clusters of the inputs"
        help="Such as caller, /depot: inputs with the same value may resemble each other."
        value={draft.clusterBy}
        onChange={(clusterBy) => change({ clusterBy })}
      />
    </>
  );
}

function MeasureFields({ draft, change, hasTies }: DraftFieldsProps & { hasTies: boolean }) {
  return (
    <>
      <SelectField
        label="Compare values by"
        value={draft.measure}
        options={MEASURES.map((value) => ({ value, label: MEASURE_LABELS[value] }))}
        onChange={(measure) => change({ measure: parseChoice(MEASURES, measure) })}
      />
      <TextField
        label="Shift"
        help="Added to every value before a ratio, such as 10 for seconds."
        value={draft.shift}
        onChange={(shift) => change({ shift })}
      />
      {hasTies && (
        <TextField
          label="Ties, % of the larger value"
          help="Values that differ by at most so much are equal, such as by the tolerance of the solver; the default is 0.0000001."
          value={draft.tieTolerance}
          onChange={(tieTolerance) => change({ tieTolerance })}
        />
      )}
    </>
  );
}
