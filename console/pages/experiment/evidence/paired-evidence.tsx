import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { ComparedGroups, Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  createGroupNamer,
  type Group,
  isSameGroup,
} from '@switchyard/contract/experiments/presentation/group-labels.ts';
import type { PairedRun } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { viewGroups } from '@switchyard/contract/views/experiment-view.ts';
import type { Meaning } from '../../../client/indicator-meaning.ts';
import type { ExperimentSearch } from '../search.ts';
import { ComparisonTable } from './comparison-table.tsx';
import { Fold } from './evidence.tsx';
import { FeatureSection } from './feature-section.tsx';
import { InputBars } from './input-bars.tsx';
import { findShare } from './list-steps.ts';
import { DistributionPlot, ProfilePlot } from './step-plots.tsx';

type GroupsView = ReturnType<typeof viewGroups>[number];

interface PairedEvidenceProps {
  application: string;
  compared: readonly Pick<ComparedGroups, 'control' | 'candidate'>[];
  /** The candidate and the indicator that the pictures show. */
  chosen: GroupsView;
  view: GroupsView['indicators'][number];
  profiles?: readonly IndicatorProfile[] | undefined;
  runs: readonly PairedRun[];
  readInput: (run: PairedRun) => string;
  unit: 'input' | 'original';
  nameIndicator: (indicator: string) => string;
  describe: Meaning['describe'];
  search: ExperimentSearch;
  onSearch: (changed: ExperimentSearch) => void;
}

/** What the pictures of one candidate and one indicator share. */
function readShared({
  application,
  compared,
  chosen,
  view,
  profiles,
  unit,
  nameIndicator,
}: PairedEvidenceProps) {
  const nameGroup = createGroupNamer(compared.flatMap((one) => [one.control, one.candidate]));
  const { control, candidate } = chosen;
  const { indicator, objective, effect } = view;
  return {
    sides: { control, candidate, nameGroup },
    profile: profiles?.find((one) => one.indicator === indicator),
    shared: {
      application,
      objective,
      effect,
      unit,
      pairs: view.listPairs(),
      label: nameIndicator(indicator),
    },
  };
}

/** The pictures that are open: the change on each input, and the distribution of both sides. */
export function PairedPictures(props: PairedEvidenceProps) {
  const { sides, profile, shared } = readShared(props);
  const source = { runs: props.runs, indicator: props.view.indicator, readInput: props.readInput };
  return (
    <>
      {shared.pairs.length > 0 && <InputBars {...shared} />}
      <DistributionPlot
        label={shared.label}
        axis={[shared.label, props.describe(props.view.indicator).unit].filter(Boolean).join(', ')}
        unit={shared.unit}
        {...sides}
        source={source}
        profile={profile}
      />
    </>
  );
}

/** The folded parts. */
export function PairedFolds(props: PairedEvidenceProps) {
  const { chosen, view, search, onSearch } = props;
  const { sides, profile, shared } = readShared(props);
  const comparisons = chosen.indicators.map(({ comparison }) => comparison);
  const found = profile && describeProfile(profile, sides.candidate, props.unit);
  return (
    <>
      {profile && found !== undefined && (
        <Fold title="Performance profile" finding={found}>
          <ProfilePlot label={shared.label} profile={profile} {...sides} />
        </Fold>
      )}
      {view.comparison.interactions && (
        <FeatureSection
          label={shared.label}
          objective={shared.objective}
          effect={shared.effect}
          control={chosen.names.control}
          interactions={view.comparison.interactions}
          chosen={search.feature}
          onChoose={(feature) => onSearch({ feature })}
        />
      )}
      <Fold title="All indicators" finding={describeIndicators(comparisons)} isWide>
        <ComparisonTable comparisons={comparisons} />
      </Fold>
    </>
  );
}

/** Returns on how many inputs the candidate has the best value; undefined without a profile. */
function describeProfile({ groups }: IndicatorProfile, candidate: Group, unit: string): string | undefined {
  if (groups.some(({ performance }) => performance === null)) return undefined;
  const own = groups.find((group) => isSameGroup(group, candidate));
  const share = findShare(own?.performance ?? [], 1);
  return `The candidate is the best, or equal to it, on ${formatPercent(share)} of ${unit}s`;
}

function describeIndicators(comparisons: readonly Comparison[]): string {
  const judged = comparisons.filter(({ objective }) => objective !== 'none').length;
  return `${formatNumber(comparisons.length)}, of which ${formatNumber(judged)} ${judged === 1 ? 'has' : 'have'} a direction`;
}
