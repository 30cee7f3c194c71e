import { Button } from '../../ui/button.tsx';
import form from '../../ui/forms/form.module.css';
import { DirectionField } from './direction-field.tsx';
import type { GuardrailDraft } from './draft.ts';
import type { DraftFieldsProps } from './draft-fields.tsx';
import { IndicatorField } from './indicator-field.tsx';

const GUARDRAIL_DIRECTIONS = ['minimize', 'maximize'] as const;

/** The indicators that must not get worse, beside the primary one. */
export function GuardrailFields({ draft, choices, change }: DraftFieldsProps) {
  const { guardrails, indicator: primary } = draft;
  const replace = (index: number, values: Partial<GuardrailDraft>) =>
    change({ guardrails: guardrails.map((one, place) => (place === index ? { ...one, ...values } : one)) });
  const used = new Set([primary, ...guardrails.map(({ indicator }) => indicator)]);
  const next = choices.indicators.find((indicator) => !used.has(indicator)) ?? '';
  return (
    <section className={form.section} aria-label="Guardrails">
      {guardrails.map(({ indicator, direction }, index) => (
        <fieldset key={index} className={form.item}>
          <legend>Guardrail {index + 1}</legend>
          <div className={form.row}>
            <IndicatorField
              label="Indicator"
              value={indicator}
              indicators={choices.indicators}
              onChange={(chosen) => replace(index, { indicator: chosen })}
            />
            <DirectionField
              value={direction}
              directions={GUARDRAIL_DIRECTIONS}
              onChange={(chosen) => replace(index, { direction: chosen })}
            />
          </div>
          <Button
            kind="quiet"
            onPress={() => change({ guardrails: guardrails.filter((_, place) => place !== index) })}
          >
            Remove guardrail {index + 1}
          </Button>
        </fieldset>
      ))}
      <div className={form.actions}>
        <Button
          onPress={() => change({ guardrails: [...guardrails, { indicator: next, direction: 'minimize' }] })}
        >
          Add a guardrail
        </Button>
        <span className={form.hint}>An indicator that must not get worse.</span>
      </div>
    </section>
  );
}
