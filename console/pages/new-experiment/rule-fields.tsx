import { UNBOUNDED_STATISTICS } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import form from '../../ui/forms/form.module.css';
import { RepeatedFields } from '../../ui/forms/repeated-fields.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { UnitField } from '../../ui/forms/unit-field.tsx';
import { LIMITS } from '../experiment/verdict/describe-acceptance.ts';
import { createRule, METRIC_TYPES, OPERATORS, parseChoice, type RuleDraft } from './draft.ts';
import type { DraftFieldsProps } from './draft-fields.tsx';
import { IndicatorField } from './indicator-fields.tsx';
import type { Choices } from './queries.ts';

const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'max', 'min', 'shifted_geometric_mean'];
const METRIC_LABELS: Record<RuleDraft['metricType'], string> = {
  'direct-comparison': 'With the control',
  'difference-threshold': 'The difference with a number',
  'absolute-threshold': 'With a number',
};

/** The rules of an acceptance test. The candidate must meet all of them. */
export function RuleFields({ draft: { rules }, choices, change }: DraftFieldsProps) {
  return (
    <section className={form.section} aria-label="Rules">
      <RepeatedFields
        noun="rule"
        items={rules}
        create={() => createRule(choices.indicators[0] ?? 'result.value')}
        onChange={(changed) => change({ rules: changed })}
      >
        {(rule, replace) => <Rule rule={rule} choices={choices} onChange={replace} />}
      </RepeatedFields>
    </section>
  );
}

const hasBound = (statistic: string) => !UNBOUNDED_STATISTICS.includes(statistic);

interface RuleProps {
  rule: RuleDraft;
  choices: Choices;
  onChange: (values: Partial<RuleDraft>) => void;
}

function Rule({ rule, choices, onChange }: RuleProps) {
  const isDirect = rule.metricType === 'direct-comparison';
  return (
    <>
      <div className={form.row}>
        <SelectField
          label="Statistic"
          value={rule.statistic}
          options={[...new Set([...STATISTICS, rule.statistic])]}
          onChange={(statistic) => onChange({ statistic, ...(!hasBound(statistic) && { usesBound: false }) })}
        />
        <IndicatorField
          label="Indicator"
          value={rule.field}
          indicators={choices.indicators}
          onChange={(field) => onChange({ field })}
        />
        <SelectField
          label="Compares"
          value={rule.metricType}
          options={METRIC_TYPES.map((value) => ({ value, label: METRIC_LABELS[value] }))}
          onChange={(type) => onChange({ metricType: parseChoice(METRIC_TYPES, type), usesBound: false })}
        />
        <SelectField
          label="The candidate is"
          value={rule.operator}
          options={OPERATORS.map((value) => ({ value, label: LIMITS[value] }))}
          onChange={(operator) => onChange({ operator: parseChoice(OPERATORS, operator) })}
        />
        <TextField
          label={isDirect ? 'Accepted loss' : 'Threshold'}
          value={rule.tolerance}
          onChange={(tolerance) => onChange({ tolerance })}
        />
        <UnitField
          relative="% of the control"
          value={rule.toleranceType}
          onChange={(toleranceType) => onChange({ toleranceType })}
        />
      </div>
      <TieFields rule={rule} onChange={onChange} />
      {isDirect && hasBound(rule.statistic) && (
        <label className={form.choice}>
          <input
            type="checkbox"
            checked={rule.usesBound}
            onChange={(event) => onChange({ usesBound: event.target.checked })}
          />
          By the 95 % bound: the rule then holds for other inputs too
        </label>
      )}
    </>
  );
}

/** Accepts a tie on all inputs, and bounds the change of one. */
function TieFields({ rule, onChange }: Omit<RuleProps, 'choices'>) {
  return (
    <>
      {rule.metricType !== 'absolute-threshold' && (
        <label className={form.choice}>
          <input
            type="checkbox"
            checked={rule.acceptsSame}
            onChange={(event) => onChange({ acceptsSame: event.target.checked })}
          />
          Accepts a tie on all inputs, which says nothing about others
        </label>
      )}
      {rule.usesBound && (
        <TextField
          label="Largest change of one input, % of the control"
          help="If you know one: it gives a bound where most inputs tie."
          value={rule.largestLoss}
          onChange={(largestLoss) => onChange({ largestLoss })}
        />
      )}
    </>
  );
}
