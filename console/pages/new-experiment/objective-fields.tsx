import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import form from '../../ui/forms/form.module.css';
import { DirectionField } from './direction-field.tsx';
import { DIRECTIONS } from './draft.ts';
import { DraftFields, type DraftFieldsProps } from './draft-fields.tsx';
import { IndicatorField } from './indicator-field.tsx';

/** The indicator that decides, its direction, and the difference that does not matter. */
export function ObjectiveFields({
  type,
  draft,
  choices,
  change,
}: DraftFieldsProps & { type: ExperimentType }) {
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
        {hasMargin && <DraftFields {...{ draft, choices, change }} names={['margin']} />}
      </div>
    </section>
  );
}
