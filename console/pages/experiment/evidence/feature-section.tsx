import type { Interaction } from '@switchyard/contract/experiments/input-interactions.ts';
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { IntervalPlot } from '../interval/interval-plot.tsx';
import { Choices } from './choices.tsx';
import { Fold } from './evidence.tsx';

interface FeatureSectionProps {
  /** The indicator as people call it. */
  label: string;
  /** Name of the control. */
  control: string;
  objective: 'minimize' | 'maximize' | 'none';
  interactions: readonly Interaction[];
  effect: Effect;
  /** Feature of the picture; the default is the first. */
  chosen: string | undefined;
  onChoose: (feature: string) => void;
}

/** The effect by each feature of the inputs. It has no verdict: it is a hint for the next experiment. */
export function FeatureSection(props: FeatureSectionProps) {
  const { label, control, objective, interactions, effect, chosen, onChoose } = props;
  const visible = interactions.find(({ feature }) => feature === chosen) ?? interactions[0];
  if (!visible) return null;
  const features = interactions.map(({ feature }) => feature);
  return (
    <Fold
      title="Effect by feature"
      finding={`By ${escapeInvisible(features.join(', '))}; a hint for the next experiment`}
      isWide
      isOpen={chosen !== undefined}
    >
      <IntervalPlot
        title={`Change of ${label} by ${visible.feature}`}
        zero={control}
        caption="Each interval holds for only its group. Exploratory: the verdict does not depend on it, so confirm it in an experiment on new inputs."
        rows={visible.groups.map((group, index) => ({
          key: `${index} ${group.label}`,
          label: group.label,
          objective,
          effect: readGroupEffect(group, effect.measure),
          word: `${group.inputs} ${group.inputs === 1 ? 'input' : 'inputs'}`,
          tone: group.effect?.interval ? 'changed' : 'open',
        }))}
        wordColumn="inputs"
        {...(interactions.length > 1 && {
          controls: (
            <Choices choices={[{ label: 'Feature', options: features, chosen: visible.feature, onChoose }]} />
          ),
        })}
      />
    </Fold>
  );
}

function readGroupEffect({ effect }: Interaction['groups'][number], measure: Effect['measure']): Effect {
  const origin = measure === 'relative' ? 1 : 0;
  return {
    measure,
    value: effect === null ? null : effect.value - origin,
    low: effect?.interval ? effect.interval.low - origin : null,
    high: effect?.interval ? effect.interval.high - origin : null,
    margin: null,
  };
}
