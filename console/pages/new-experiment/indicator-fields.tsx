import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import form from '../../ui/forms/form.module.css';
import { RepeatedFields } from '../../ui/forms/repeated-fields.tsx';
import { SuggestionField } from '../../ui/forms/suggestion-field.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { DIRECTIONS, type GuardrailDraft, parseChoice } from './draft.ts';
import { DraftFields, type DraftFieldsProps } from './draft-fields.tsx';

/** The indicator that decides, its direction, the difference that does not matter, and the guardrails. */
export function ObjectiveFields({
  type,
  draft,
  choices,
  change,
}: DraftFieldsProps & { type: ExperimentType }) {
  const hasMargin = hasField(type, 'comparison');
  return (
    <>
      <section className={form.section} aria-label="Objective">
        <div className={form.row}>
          <IndicatorField
            label="Primary indicator"
            value={draft.indicator}
            indicators={choices.indicators}
            onChange={(indicator) => change({ indicator })}
          />
          <DirectionField
            value={draft.direction}
            directions={hasMargin ? DIRECTIONS : ['minimize', 'maximize']}
            onChange={(direction) => change({ direction })}
          />
          {hasMargin && <DraftFields {...{ draft, choices, change }} names={['margin']} />}
        </div>
      </section>
      {hasMargin && <GuardrailFields {...{ draft, choices, change }} />}
    </>
  );
}

const GUARDRAIL_DIRECTIONS = ['minimize', 'maximize'] as const;

/** The indicators that must not get worse, beside the primary one. */
function GuardrailFields({ draft, choices, change }: DraftFieldsProps) {
  const { guardrails, indicator: primary } = draft;
  const used = new Set([primary, ...guardrails.map(({ indicator }) => indicator)]);
  const next = choices.indicators.find((indicator) => !used.has(indicator)) ?? '';
  return (
    <section className={form.section} aria-label="Guardrails">
      <RepeatedFields
        noun="guardrail"
        items={guardrails}
        minimum={0}
        hint="An indicator that must not get worse."
        create={(): GuardrailDraft => ({ indicator: next, direction: 'minimize' })}
        onChange={(changed) => change({ guardrails: changed })}
      >
        {({ indicator, direction }, replace) => (
          <div className={form.row}>
            <IndicatorField
              label="Indicator"
              value={indicator}
              indicators={choices.indicators}
              onChange={(chosen) => replace({ indicator: chosen })}
            />
            <DirectionField
              value={direction}
              directions={GUARDRAIL_DIRECTIONS}
              onChange={(chosen) => replace({ direction: chosen })}
            />
          </div>
        )}
      </RepeatedFields>
    </section>
  );
}

interface IndicatorFieldProps {
  label: string;
  value: string;
  indicators: readonly string[];
  onChange: (indicator: string) => void;
}

/** The name of an indicator. Those of recent runs are suggested. */
export function IndicatorField({ indicators, ...field }: IndicatorFieldProps) {
  return (
    <SuggestionField
      {...field}
      help="The numbers of recent runs are suggested."
      suggestions={indicators.map((indicator) => ({ value: indicator }))}
    />
  );
}

type Direction = (typeof DIRECTIONS)[number];

const LABELS: Record<Direction, string> = {
  minimize: 'Lower is better',
  maximize: 'Higher is better',
  none: 'Neither',
};

interface DirectionFieldProps<D extends Direction> {
  value: D;
  directions: readonly D[];
  onChange: (direction: D) => void;
}

/** Selects which values of an indicator are better. */
function DirectionField<D extends Direction>({ value, directions, onChange }: DirectionFieldProps<D>) {
  return (
    <SelectField
      label="Direction"
      value={value}
      options={directions.map((direction) => ({ value: direction, label: LABELS[direction] }))}
      onChange={(chosen) => onChange(parseChoice(directions, chosen))}
    />
  );
}
