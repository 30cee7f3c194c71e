import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ExperimentSearch } from '../search.ts';
import { BestOfPlot } from './best-of-plot.tsx';
import { Choices } from './choices.tsx';
import { Fold } from './evidence.tsx';

interface EnsembleArmsProps {
  arms: readonly EnsembleArm[];
  compared: readonly ComparedGroups[];
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
}

/** The ensembles of the experiment: the best of fewer child runs. */
export function EnsembleArms({ arms, compared, search, onSearch }: EnsembleArmsProps) {
  const nameGroup = createGroupNamer([
    ...compared.flatMap(({ control, candidate }) => [control, candidate]),
    ...arms,
  ]);
  const names = arms.map(nameGroup);
  const chosen = arms.find((arm) => nameGroup(arm) === search.ensemble) ?? arms[0];
  if (!chosen || chosen.best_of_k.length === 0) return null;
  const name = nameGroup(chosen);
  return (
    <Fold title="Fewer child runs" finding={`The best of 1 to ${formatNumber(chosen.best_of_k.length)} runs`}>
      <Choices
        choices={[
          { label: 'Ensemble', options: names, chosen: name, onChoose: (ensemble) => onSearch({ ensemble }) },
        ]}
      />
      <BestOfPlot arm={chosen} name={name} />
    </Fold>
  );
}
