import type { Interaction } from '@switchyard/contract/experiments/input-interactions.ts';
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { Button } from '../../../ui/button.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import { IntervalPlot } from '../interval/interval-plot.tsx';
import { Choices } from './choices.tsx';
import view from './evidence.module.css';
import { Fold } from './evidence.tsx';
import { PairTable } from './pair-table.tsx';

interface FeatureSectionProps {
  application: string;
  /** The indicator as people call it. */
  label: string;
  /** Name of the control. */
  control: string;
  objective: 'minimize' | 'maximize' | 'none';
  interactions: readonly Interaction[];
  effect: Effect;
  /** The pairs of runs of the page. */
  pairs: readonly InputPair[];
  /** One pair in words, such as `input`. */
  unit: string;
  /** Feature of the picture, by default the first; and its group whose pairs a table shows. */
  chosen: { feature: string | undefined; group: string | undefined };
  onChoose: (chosen: { feature: string; group: string }) => void;
}

/** The effect by each feature of the inputs. It has no verdict: it is a hint for the next experiment. */
export function FeatureSection(props: FeatureSectionProps) {
  const { label, control, objective, interactions, effect, chosen, onChoose } = props;
  const visible = interactions.find(({ feature }) => feature === chosen.feature) ?? interactions[0];
  if (!visible) return null;
  const features = interactions.map(({ feature }) => feature);
  return (
    <Fold
      title="Effect by feature"
      finding={`By ${escapeInvisible(features.join(', '))}; a hint for the next experiment`}
      isWide
      isOpen={chosen.feature !== undefined}
    >
      <IntervalPlot
        title={`Change of ${label} by ${visible.feature}`}
        zero={control}
        caption="Each interval holds for its group alone. Exploratory: the verdict does not depend on it, so confirm it in an experiment on new inputs."
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
            <Choices
              choices={[
                {
                  label: 'Feature',
                  options: features,
                  chosen: visible.feature,
                  onChoose: (feature) => onChoose({ feature, group: '' }),
                },
              ]}
            />
          ),
        })}
      />
      <FeatureTable interactions={interactions} chosen={chosen} onChoose={onChoose} />
      <GroupPairs {...props} />
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

/** The groups of every feature in numbers. */
function FeatureTable({
  interactions,
  chosen,
  onChoose,
}: Pick<FeatureSectionProps, 'interactions' | 'chosen' | 'onChoose'>) {
  return (
    <section aria-label="Features of the inputs">
      <TableRegion label="Effect by feature">
        <table className={table.table}>
          <TableHead texts={['Feature', 'Group']} numbers={['Inputs', 'Won / tied / lost', 'Runs']} />
          <tbody>
            {interactions.flatMap(({ feature, groups }) =>
              groups.map((group, index) => (
                <tr key={`${feature} ${index}`}>
                  <th scope="row" className={view.indicator}>
                    <bdi>{feature}</bdi>
                  </th>
                  <td>
                    <bdi>{group.label}</bdi>
                  </td>
                  <td className={table.number}>{group.inputs}</td>
                  <td className={table.number}>
                    {group.wins} / {group.ties} / {group.losses}
                  </td>
                  <td data-page-only="">
                    <PairsButton
                      name={`${feature}, ${group.label}`}
                      isOpen={chosen.feature === feature && chosen.group === group.label}
                      onPress={(isOpen) => onChoose({ feature, group: isOpen ? group.label : '' })}
                    />
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

interface PairsButtonProps {
  name: string;
  isOpen: boolean;
  onPress: (isOpen: boolean) => void;
}

function PairsButton({ name, isOpen, onPress }: PairsButtonProps) {
  return (
    <Button
      kind="quiet"
      aria-expanded={isOpen}
      aria-label={`Pairs of ${escapeInvisible(name)}`}
      onPress={() => onPress(!isOpen)}
    >
      {isOpen ? 'Hide pairs' : 'Pairs'}
    </Button>
  );
}

/** The pairs of the chosen group, largest decrease first. Each opens its two runs. */
function GroupPairs({ application, interactions, pairs, effect, unit, chosen }: FeatureSectionProps) {
  const groups = interactions.find(({ feature }) => feature === chosen.feature)?.groups;
  const group = groups?.find(({ label }) => label === chosen.group);
  if (!group) return null;
  const ids = new Set(group.input_ids);
  const found = pairs.filter(({ input }) => ids.has(input));
  return (
    <section aria-labelledby="group-pairs" data-page-only="">
      <h3 id="group-pairs">
        Pairs of <bdi>{chosen.feature}</bdi>, <bdi>{group.label}</bdi>
      </h3>
      <PairTable {...{ application, effect, unit }} pairs={found} label="Pairs of the group" />
      {found.length < ids.size && (
        <p className={view.hint}>
          {found.length} of {ids.size} {unit}s are among the runs of this page.
        </p>
      )}
    </section>
  );
}
