import type { EnsembleArm } from '@switchyard/contract/experiments/experiment-ensembles.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { Choices } from '../comparison/choices.tsx';
import view from '../comparison/comparison-view.module.css';
import type { ExperimentSearch } from '../search.ts';
import { BestOfPlot } from './best-of-plot.tsx';
import { CostTable } from './cost-table.tsx';

interface EnsembleArmsProps {
  arms: readonly EnsembleArm[];
  compared: readonly ComparedGroups[];
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
}

/** The ensembles of the experiment: their cost beside the other sides, the best of fewer runs, and what each group adds. */
export function EnsembleArms({ arms, compared, search, onSearch }: EnsembleArmsProps) {
  const nameGroup = createGroupNamer([
    ...compared.flatMap(({ control, candidate }) => [control, candidate]),
    ...arms,
  ]);
  const names = arms.map(nameGroup);
  const chosen = arms.find((arm) => nameGroup(arm) === search.ensemble) ?? arms[0];
  if (!chosen) return null;
  const name = nameGroup(chosen);
  return (
    <section aria-label="Ensembles" className={view.view}>
      <CostTable compared={compared} nameGroup={nameGroup} />
      <Choices
        choices={[
          { label: 'Ensemble', options: names, chosen: name, onChoose: (ensemble) => onSearch({ ensemble }) },
        ]}
      />
      <BestOfPlot arm={chosen} name={name} />
    </section>
  );
}
