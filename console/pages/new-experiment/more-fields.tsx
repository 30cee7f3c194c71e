import {
  type ExperimentType,
  hasFact,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { SecondsField } from '../../ui/forms/seconds/seconds-field.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
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
  const createsRuns = !hasFact(type, 'isLive') && !(hasField(type, 'existingBatch') && draft.batch !== '');
  return (
    <details className={form.more}>
      <summary>More settings</summary>
      <div className={form.row}>
        {hasField(type, 'seeds') && <SeedFields draft={draft} change={change} />}
        {createsRuns && hasField(type, 'inputProperties') && (
          <InputPropertyFields draft={draft} change={change} />
        )}
        {hasField(type, 'failureMargin') && (
          <TextField
            label="Accepted failures, % of inputs"
            help="Inputs that the candidate may lose more than the control; the default is none."
            value={draft.failureMargin}
            onChange={(failureMargin) => change({ failureMargin })}
          />
        )}
        {hasField(type, 'comparison') && (
          <MeasureFields draft={draft} change={change} hasTies={hasField(type, 'ties')} />
        )}
        {hasField(type, 'confidence') && (
          <TextField
            label="Confidence, %"
            help={
              hasField(type, 'versions')
                ? 'Probability with which the version found is right.'
                : 'Probability with which a race keeps the best configuration.'
            }
            value={draft.confidence}
            onChange={(confidence) => change({ confidence })}
          />
        )}
        {createsRuns && <RunSettingsFields draft={draft} change={change} />}
        {hasField(type, 'searchRuns') && (
          <TextField
            label="Maximum number of runs"
            help="The search ends there; the default is the largest number."
            value={draft.searchRuns}
            onChange={(searchRuns) => change({ searchRuns })}
          />
        )}
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

/** Settings of the runs that the experiment creates. */
function RunSettingsFields({ draft, change }: DraftFieldsProps) {
  return (
    <>
      <SelectField
        label="Queue priority"
        help={`${PRIORITY_MIN} runs first. The default is ${PRIORITY_MAX}, the last, whatever the instances say.`}
        value={draft.priority}
        options={[
          { value: '', label: `${PRIORITY_MAX} (default)` },
          ...PRIORITIES.filter((priority) => priority !== PRIORITY_MAX).map(String),
        ]}
        onChange={(priority) => change({ priority })}
      />
      <SecondsField
        label="Maximum duration of a run, s"
        help="At most that of the execution class. Empty: that of the instance, or else of the class."
        value={draft.maxDuration}
        onChange={(maxDuration) => change({ maxDuration })}
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
      {hasTies && (
        <TextField
          label="Largest change of one input, % of the control"
          help="If you know one: it gives an interval where most inputs tie."
          value={draft.largestLoss}
          onChange={(largestLoss) => change({ largestLoss })}
        />
      )}
    </>
  );
}
