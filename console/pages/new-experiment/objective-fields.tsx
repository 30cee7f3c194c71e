import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import form from '../../ui/forms/form.module.css';
import { TextField } from '../../ui/forms/text-field.tsx';
import { UnitField } from '../../ui/forms/unit-field.tsx';
import { DirectionField } from './direction-field.tsx';
import { DIRECTIONS, type ExperimentDraft } from './draft.ts';
import { IndicatorField } from './indicator-field.tsx';
import type { Choices } from './queries.ts';

interface ObjectiveFieldsProps {
  type: ExperimentType;
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

/** The indicator that decides, its direction, and the difference that does not matter. */
export function ObjectiveFields({ type, draft, choices, change }: ObjectiveFieldsProps) {
  const hasMargin = hasField(type, 'comparison');
  return (
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
        {hasMargin && (
          <>
            <TextField
              label="Margin"
              help="Differences up to it count as equivalent."
              value={draft.margin}
              onChange={(margin) => change({ margin })}
            />
            <UnitField
              label="Unit of the margin"
              relative="% of the control"
              value={draft.marginType}
              onChange={(marginType) => change({ marginType })}
            />
          </>
        )}
      </div>
    </section>
  );
}
